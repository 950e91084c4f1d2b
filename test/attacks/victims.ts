import { once, setMaxListeners } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const HEALTH_EVERY_MS = 50;
const STREAMS = 20;
/** They take over two minutes. The limit of one engine's slots allows no more. */
const TOKENS = 8_000;

/** The effect on the other clients of a server over a period. */
export interface Fare {
  /** The 99th percentile of each stream's gaps, ms: the largest of all streams. */
  readonly gapP99Ms: number;
  /** The longest answer of /health, ms. */
  readonly healthMs: number;
}

/** Twenty steady streams and a load balancer that requests /health. */
export class Victims {
  private readonly leave = new AbortController();

  private constructor(
    private readonly baseUrl: string,
    private readonly streams: readonly SteadyStream[],
  ) {
    // Each stream listens to the signal; Node warns of more than ten.
    setMaxListeners(STREAMS, this.leave.signal);
  }

  static async start(baseUrl: string): Promise<Victims> {
    const streams = Array.from({ length: STREAMS }, () => new SteadyStream());
    const victims = new Victims(baseUrl, streams);
    const { signal } = victims.leave;
    await Promise.all(streams.map((stream) => stream.begin(baseUrl, signal)));
    return victims;
  }

  stop(): void {
    this.leave.abort();
  }

  /**
   * Measures until `until` has resolved, and for `atLeastMs`.
   *
   * @throws Error when a stream has ended, because no client closed one
   */
  async fareDuring(until: Promise<unknown>, atLeastMs: number): Promise<Fare> {
    for (const stream of this.streams) stream.watch();
    let isOver = false;
    const over = Promise.all([until, pause(atLeastMs)]).finally(() => (isOver = true));
    let healthMs = 0;
    while (!isOver) {
      healthMs = Math.max(healthMs, await answerMs(`${this.baseUrl}/health`));
      await pause(HEALTH_EVERY_MS);
    }
    await over;
    return { gapP99Ms: Math.max(...this.streams.map((stream) => stream.gapP99Ms())), healthMs };
  }
}

class SteadyStream {
  private gaps: number[] = [];
  private lastMs = 0;
  private ended: string | undefined;

  /**
   * Resolves with the first token; the stream goes on, over a connection of its own: one that was
   * open during a long attack may have timed out.
   */
  async begin(baseUrl: string, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', agent: false, headers, signal };
    const sent = request(`${baseUrl}/v1/completions`, post);
    sent.end(JSON.stringify({ prompt: 'x', max_tokens: TOKENS, ignore_eos: true, stream: true }));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', (error) => (this.ended = String(error)));
    if (answer.statusCode !== 200) {
      throw new Error(`a steady stream got ${answer.statusCode} ${await text(answer)}`);
    }
    this.follow(answer);
    await once(answer, 'data');
  }

  watch(): void {
    this.gaps = [];
    this.lastMs = performance.now();
  }

  /** Since `watch`. The present gap counts as one. */
  gapP99Ms(): number {
    if (this.ended !== undefined) throw new Error(`a steady stream has ended: ${this.ended}`);
    const sorted = [...this.gaps, performance.now() - this.lastMs].sort((a, b) => a - b);
    return sorted[Math.floor((sorted.length - 1) * 0.99)]!;
  }

  private follow(answer: IncomingMessage): void {
    let last = '';
    answer.on('data', (chunk: Buffer) => {
      last = chunk.toString();
      const nowMs = performance.now();
      this.gaps.push(nowMs - this.lastMs);
      this.lastMs = nowMs;
    });
    answer.on('error', (error) => (this.ended = String(error)));
    answer.on('end', () => (this.ended = last));
  }
}

async function answerMs(url: string): Promise<number> {
  const startMs = performance.now();
  await (await fetch(url)).text();
  return performance.now() - startMs;
}
