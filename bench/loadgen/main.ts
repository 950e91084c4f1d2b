import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { HttpStreams, type LoadRecord, runLoad } from '@baton/loadgen';
import { WorkloadBuilder } from '@baton/workload';
import { keepResult, originNow, ROOT } from '../kept';
import { quantiles } from '../live/quantiles';

const STREAMS = 1_000;
const TOKEN_MS = 20;
const OPENING_MS = 2_000;
const MS_PER_SECOND = 1_000;

interface Stamp {
  readonly id: string;
  readonly receivedMs: number;
  readonly writtenMs: readonly number[];
}

/**
 * The cost of a token in the load generator: this one process reads 1,000 streams of a server with
 * known delays, a token every 20 ms. Prints one JSON document. `--save` keeps it, `--quick` is
 * shorter.
 */
async function main(): Promise<void> {
  const seconds = process.argv.includes('--quick') ? 3 : 20;
  const server = spawn(process.execPath, [join(ROOT, 'test', 'support', 'known-delays.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const origin = `http://127.0.0.1:${port.toString().trim()}`;
  const record = await load(origin, Math.ceil((seconds * MS_PER_SECOND) / TOKEN_MS));
  const stamps = (await (await fetch(`${origin}/stamps`)).json()) as Stamp[];
  server.stdin.end();
  const result = {
    streams: STREAMS,
    ...figures(record),
    ...differences(record, stamps),
  };
  process.stdout.write(`${JSON.stringify({ ...originNow(), ...result }, null, 2)}\n`);
  if (process.argv.includes('--save')) keepResult('loadgen', result);
}

async function load(origin: string, tokens: number): Promise<LoadRecord> {
  const builder = new WorkloadBuilder();
  for (let i = 0; i < STREAMS; i += 1) {
    const arrivalUs = Math.round((i * OPENING_MS * 1_000) / STREAMS);
    builder.add({ arrivalUs, promptTokens: 7, outputTokens: tokens });
  }
  const reference = { ttft_ms: TOKEN_MS, itl_ms: TOKEN_MS };
  const body = JSON.stringify({ prompt: 'Hello', max_tokens: tokens, stream: true, reference });
  const headers = { 'content-type': 'application/json' };
  const path = '/v1/completions';
  const streams = new HttpStreams({ origin, path, headers, protocol: 'openai' });
  const record = await runLoad({
    workload: builder.build(),
    streams,
    bodyOf: () => body,
    keepsText: () => false,
    maxConcurrency: Infinity,
    deadlineMs: 600_000,
    keepsDetails: true,
    idPrefix: '',
  });
  await streams.close();
  return record;
}

function figures({ run }: LoadRecord): Record<string, unknown> {
  const seconds = run.endUs / 1e6;
  const tokens = run.log.emittedTokens.reduce((sum, each) => sum + each, 0);
  return {
    completed: run.log.outcome.filter((code) => code === 1).length,
    tokens,
    tokens_per_second: tokens / seconds,
    cpu_share: run.lateness.cpu_share,
    cpu_us_per_token: (run.lateness.cpu_share * seconds * 1e6) / tokens,
    load_generator: run.lateness,
  };
}

/** The client's measurement minus the server's stamp, ms. ITL of one stream in ten. */
function differences({ run, details = [] }: LoadRecord, stamps: readonly Stamp[]): object {
  const { log } = run;
  const ttft = stamps.map(({ id, receivedMs, writtenMs }) => {
    const row = Number(id);
    return (log.firstTokenUs.at(row) - log.arrivalUs.at(row)) / 1e3 - (writtenMs[0]! - receivedMs);
  });
  const itl = stamps.flatMap(({ id, writtenMs }, i) => {
    const gaps = details[Number(id)]!.gapsUs;
    if (i % 10 !== 0) return [];
    return gaps.map((us, k) => us / 1e3 - (writtenMs[k + 1]! - writtenMs[k]!));
  });
  return { ttft_difference_ms: quantiles(ttft), itl_difference_ms: quantiles(itl) };
}

void main();
