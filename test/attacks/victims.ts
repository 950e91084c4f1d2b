import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WITNESS = fileURLToPath(new URL('witness.mjs', import.meta.url));
const RESOLUTION_MS = 5;
const HEALTH_EVERY_MS = 50;
const STREAMS = 20;
const TOKENS = 100_000;

/** How the other clients of a server fare for a while. */
export interface Fare {
  /** Of each stream, the 99th percentile of its gaps, ms; of all streams the largest. */
  readonly gapP99Ms: number;
  /** The longest answer of /health, ms. */
  readonly healthMs: number;
  /** How late this process, or an idle server beside the cluster, was at most, ms. */
  readonly lateMs: number;
}

/** Twenty steady streams and a load balancer that asks for /health. */
export class Victims {
  private readonly gaps: number[][] = [];
  private readonly leave = new AbortController();

  private constructor(
    private readonly baseUrl: string,
    private readonly witness: ChildProcess,
    private readonly witnessUrl: string,
  ) {}

  static async start(baseUrl: string): Promise<Victims> {
    const witness = fork(WITNESS);
    const [{ port }] = (await once(witness, 'message')) as [{ readonly port: number }];
    const victims = new Victims(baseUrl, witness, `http://127.0.0.1:${port}`);
    await Promise.all(Array.from({ length: STREAMS }, () => victims.stream()));
    return victims;
  }

  stop(): void {
    this.leave.abort();
    this.witness.disconnect();
  }

  /** Watches until `until` has resolved, and for `atLeastMs`. */
  async fareDuring(until: Promise<unknown>, atLeastMs: number): Promise<Fare> {
    for (const gaps of this.gaps) gaps.length = 0;
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    let isOver = false;
    const over = Promise.all([until, pause(atLeastMs)]).finally(() => (isOver = true));
    let healthMs = 0;
    let witnessMs = 0;
    while (!isOver) {
      healthMs = Math.max(healthMs, await answerMs(`${this.baseUrl}/health`));
      witnessMs = Math.max(witnessMs, await answerMs(this.witnessUrl));
      await pause(HEALTH_EVERY_MS);
    }
    await over;
    delay.disable();
    return {
      gapP99Ms: Math.max(...this.gaps.map((gaps) => quantile(gaps, 0.99))),
      healthMs,
      lateMs: Math.max(witnessMs, delay.max / 1e6 - RESOLUTION_MS),
    };
  }

  /** Resolves with the first token; the stream goes on. */
  private async stream(): Promise<void> {
    const answer = await fetch(`${this.baseUrl}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'x', max_tokens: TOKENS, ignore_eos: true, stream: true }),
      signal: this.leave.signal,
    });
    const reader = answer.body!.getReader();
    await reader.read();
    const gaps: number[] = [];
    this.gaps.push(gaps);
    void follow(reader, gaps).catch(() => undefined);
  }
}

async function answerMs(url: string): Promise<number> {
  const startMs = performance.now();
  await (await fetch(url)).text();
  return performance.now() - startMs;
}

async function follow(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  gaps: number[],
): Promise<void> {
  for (let lastMs = performance.now(); ;) {
    const { done } = await reader.read();
    if (done) return;
    const nowMs = performance.now();
    gaps.push(nowMs - lastMs);
    lastMs = nowMs;
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity;
}
