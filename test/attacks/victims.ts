import { setTimeout as pause } from 'node:timers/promises';

const HEALTH_EVERY_MS = 50;
const STREAMS = 20;
const TOKENS = 100_000;

/** How the other clients of a server fare for a while. */
export interface Fare {
  /** Of each stream, the 99th percentile of its gaps, ms; of all streams the largest. */
  readonly gapP99Ms: number;
  /** The longest answer of /health, ms. */
  readonly healthMs: number;
}

/** Twenty steady streams and a load balancer that asks for /health. */
export class Victims {
  private readonly gaps: number[][] = [];
  private readonly leave = new AbortController();

  private constructor(private readonly baseUrl: string) {}

  static async start(baseUrl: string): Promise<Victims> {
    const victims = new Victims(baseUrl);
    await Promise.all(Array.from({ length: STREAMS }, () => victims.stream()));
    return victims;
  }

  stop(): void {
    this.leave.abort();
  }

  /** Watches until `until` has resolved, and for `atLeastMs`. */
  async fareDuring(until: Promise<unknown>, atLeastMs: number): Promise<Fare> {
    for (const gaps of this.gaps) gaps.length = 0;
    let isOver = false;
    const over = Promise.all([until, pause(atLeastMs)]).finally(() => (isOver = true));
    let healthMs = 0;
    while (!isOver) {
      healthMs = Math.max(healthMs, await answerMs(`${this.baseUrl}/health`));
      await pause(HEALTH_EVERY_MS);
    }
    await over;
    return {
      gapP99Ms: Math.max(...this.gaps.map((gaps) => quantile(gaps, 0.99))),
      healthMs,
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
