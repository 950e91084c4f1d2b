import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { mean, RandomStream } from '@baton/kernel';
import { BenchCluster, cpuUs } from './cluster';
import { histogramOf } from './exposition';
import { completionRequest, hammer, openStream, type RawTarget } from './raw-client';
import { quantiles, type ExactQuantiles } from './quantiles';
import { Stamps } from './stamps';

const HOST = '127.0.0.1';

/** 1,000 concurrent streams at 20 ms per token, 2P2D: throughput, delivery, CPU time per token. */
export async function manyStreams(seconds: number): Promise<Record<string, unknown>> {
  const streams = 1000;
  const tokensPerStream = Math.ceil((seconds + 30) / 0.02);
  const flags = ['--step-time=constant', '--time-to-first-token=20', '--inter-token-latency=20'];
  const cluster = await BenchCluster.start('2P2D', [
    ...flags,
    '--max-num-seqs=600',
    '--max-model-len=16000',
    '--num-gpu-blocks-override=400000',
  ]);
  const stamps = new Stamps(tokensPerStream);
  await stamps.listen(cluster.transport, await fetchApiId(cluster));
  const delays = new Delays(stamps);
  const sockets = await openAll(cluster, { streams, tokensPerStream, delays });
  const [apiPids, decodePids] = [await cluster.fetchPids('api'), await cluster.fetchPids('decode')];
  await pause(2_000);
  const before = { tokens: delays.tokens, api: cpuUs(apiPids), decode: cpuUs(decodePids) };
  delays.startWindow();
  await pause(seconds * 1000);
  const tokens = delays.tokens - before.tokens;
  const result = {
    tokens_per_second: tokens / seconds,
    api_cpu_us_per_token: (cpuUs(apiPids) - before.api) / tokens,
    decode_cpu_us_per_token: (cpuUs(decodePids) - before.decode) / tokens,
    delivery_ms: delays.whole(),
    delivery_ms_first_half: delays.half(0, seconds),
    delivery_ms_second_half: delays.half(1, seconds),
  };
  for (const socket of sockets) socket.destroy();
  await cluster.stop();
  return result;
}

/** 50 requests/s, Poisson, at speedup 1: the delay at the client on top of the engine's stamps. */
export async function steadyRate(seconds: number): Promise<Record<string, unknown>> {
  const cluster = await BenchCluster.start('2P2D', []);
  const stamps = new Stamps(64);
  await stamps.listen(cluster.transport, await fetchApiId(cluster));
  const random = RandomStream.root(1).stream('arrivals');
  const first: number[] = [];
  const itlRatios: number[] = [];
  const ended: Promise<void>[] = [];
  const endMs = performance.now() + seconds * 1000;
  for (let i = 0; performance.now() < endMs; i += 1) {
    ended.push(oneRequest(cluster, i, { stamps, first, itlRatios }));
    await pause(random.exponential(20));
  }
  await Promise.all(ended);
  const metrics = await (await fetch(`http://${HOST}:${cluster.port}/metrics`)).text();
  await cluster.stop();
  const measured = first.slice(250);
  const ratios = itlRatios.slice(250);
  return {
    requests: first.length,
    ttft_over_simulated_ms: quantiles(measured),
    mean_itl_over_simulated: mean(ratios),
    job_delivery_seconds_per_hop: histogramOf(metrics, 'baton:job_delivery_seconds'),
  };
}

/**
 * Non-streamed one-token requests over 128 connections, with the CPU time of each process per
 * request.
 */
export async function shortRequests(seconds: number): Promise<Record<string, unknown>> {
  const cluster = await BenchCluster.start('2P2D', ['--step-time=constant']);
  const target: RawTarget = { host: HOST, port: cluster.port };
  let answers = 0;
  const body = { prompt: 'ping', max_tokens: 1, ignore_eos: true };
  const stops = Array.from({ length: 128 }, () => hammer(target, body, () => (answers += 1)));
  await pause(3_000);
  const pids = {
    client: [process.pid],
    api: await cluster.fetchPids('api'),
    prefill: await cluster.fetchPids('prefill'),
    decode: await cluster.fetchPids('decode'),
    redis: cluster.redisPids,
  };
  const used = (): number[] => Object.values(pids).map((of) => cpuUs(of));
  const [before, cpuBefore] = [answers, used()];
  await pause(seconds * 1000);
  const done = answers - before;
  const cpu = used().map((us, i) => Math.round((us - (cpuBefore[i] ?? 0)) / done));
  for (const stop of stops) stop();
  await cluster.stop();
  return {
    requests_per_second: done / seconds,
    cpu_us_per_request: Object.fromEntries(Object.keys(pids).map((name, i) => [name, cpu[i]])),
  };
}

/** Time in which V8 collects the garbage of the start-up, ms. */
const SETTLING_MS = 20_000;

/** Start-up time, memory and idle CPU time of `baton up 2P2D`. */
export async function footprint(idleSeconds: number): Promise<Record<string, unknown>> {
  const cluster = await BenchCluster.start('2P2D', []);
  const started = { ready_seconds: cluster.startMs / 1000, pss_mib: cluster.pssMiB() };
  await pause(SETTLING_MS);
  const before = cpuUs(cluster.pids);
  await pause(idleSeconds * 1000);
  const idle_cores = (cpuUs(cluster.pids) - before) / (idleSeconds * 1e6);
  await cluster.stop();
  return { ...started, idle_cores };
}

interface OpenOptions {
  readonly streams: number;
  readonly tokensPerStream: number;
  readonly delays: Delays;
}

async function openAll(cluster: BenchCluster, options: OpenOptions): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const target = { host: HOST, port: cluster.port };
  for (let i = 0; i < options.streams; i += 1) {
    const body = {
      prompt: `stream ${i}`,
      max_tokens: options.tokensPerStream,
      ignore_eos: true,
      stream: true,
    };
    const onToken = (index: number, atMs: number): void => options.delays.add(i, index, atMs);
    const listener = { onToken, onEnd: (): void => undefined };
    sockets.push(await openStream(target, completionRequest(target, body), listener));
  }
  return sockets;
}

interface RateSamples {
  readonly stamps: Stamps;
  readonly first: number[];
  readonly itlRatios: number[];
}

async function oneRequest(cluster: BenchCluster, i: number, samples: RateSamples): Promise<void> {
  const body = { prompt: promptOf(i), max_tokens: 64, ignore_eos: true, stream: true };
  const times: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const listener = {
      onToken: (_index: number, atMs: number): void => void times.push(atMs),
      onEnd: resolve,
    };
    const target = { host: HOST, port: cluster.port };
    openStream(target, completionRequest(target, body), listener).catch(reject);
  });
  const made = samples.stamps.madeAtMs(i, 0);
  const last = samples.stamps.madeAtMs(i, 63);
  if (made === undefined || last === undefined || times.length < 64) return;
  samples.first.push((times[0] ?? 0) - made);
  samples.itlRatios.push(((times[63] ?? 0) - (times[0] ?? 0)) / (last - made));
}

function promptOf(i: number): number[] {
  return Array.from({ length: 512 }, (_none, k) => 1000 + ((i * 613 + k * 31) % 9000));
}

async function fetchApiId(cluster: BenchCluster): Promise<string> {
  const answer = await fetch(`http://${HOST}:${cluster.port}/health/live`);
  return ((await answer.json()) as { api_id: string }).api_id;
}

/** Delay of a token from the engine's stamp to the client; one stream in ten is measured. */
class Delays {
  tokens = 0;
  private readonly delaysMs: number[] = [];
  private readonly atMs: number[] = [];
  private windowMs = Infinity;

  constructor(private readonly stamps: Stamps) {}

  startWindow(): void {
    this.windowMs = performance.now();
  }

  add(stream: number, token: number, atMs: number): void {
    this.tokens += 1;
    if (stream % 10 !== 0 || atMs < this.windowMs) return;
    const madeMs = this.stamps.madeAtMs(stream, token);
    if (madeMs === undefined) return;
    this.delaysMs.push(atMs - madeMs);
    this.atMs.push(atMs);
  }

  whole(): ExactQuantiles {
    return quantiles(this.delaysMs);
  }

  /** The difference between the halves shows growth. */
  half(which: 0 | 1, seconds: number): ExactQuantiles {
    const middleMs = this.windowMs + (seconds * 1000) / 2;
    return quantiles(
      this.delaysMs.filter((_delay, i) => (this.atMs[i] ?? 0) >= middleMs === (which === 1)),
    );
  }
}
