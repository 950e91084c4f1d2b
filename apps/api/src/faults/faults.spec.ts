import type { FaultKind, FaultStage } from '@baton/contract';
import type { BatonConfig } from '@baton/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { readStream } from '../../test/api-fixture';
import { ClusterFixture } from '../../test/cluster-fixture';
import { until } from '../../test/until';

const TOKENS = 6;
const BODY = { prompt: 'Anna runs.', max_tokens: TOKENS, ignore_eos: true };

/** What a client saw of one request. */
interface Seen {
  /** 0: the connection was cut before an answer. */
  readonly status: number;
  /** Status or code that the error names, or `cut` or `malformed`. */
  readonly end: string;
  readonly retryAfter: string | null;
  readonly ms: number;
}

type Case = readonly [fault: object, whole: Partial<Seen>, stream: Partial<Seen>];

const ok = { status: 200, end: 'whole' };
const injected = (status: number): Partial<Seen> => ({ status, end: String(status) });
const inStream = (code: number | string): Partial<Seen> => ({ status: 200, end: String(code) });
const both = (fault: object, seen: Partial<Seen>): Case => [fault, seen, seen];

/** Every fault at every stage where it may happen: what is seen without and with a stream. */
const CASES: readonly Case[] = [
  both(
    { at: 'queue', fault: 'error', status: 429, retry_after: 7 },
    { ...injected(429), retryAfter: '7' },
  ),
  both({ at: 'queue', fault: 'delay', delay: 3 }, { ...ok, ms: 300 }),
  both({ at: 'queue', fault: 'cut' }, { status: 0, end: 'cut' }),
  [{ at: 'prefill', fault: 'error', status: 503 }, injected(503), inStream(503)],
  both({ at: 'prefill', fault: 'delay', delay: 3 }, { ...ok, ms: 300 }),
  [{ at: 'prefill', fault: 'crash-engine' }, injected(500), inStream(500)],
  [{ at: 'transfer', fault: 'error', status: 502 }, injected(502), inStream(502)],
  both({ at: 'transfer', fault: 'delay', delay: 3 }, { ...ok, ms: 300 }),
  both({ at: 'transfer', fault: 'slow-link', factor: 0.00005 }, { ...ok, ms: 150 }),
  [{ at: 'transfer', fault: 'expire-lease' }, injected(500), inStream(500)],
  [{ at: 'decode', fault: 'error', status: 418, after_tokens: 2 }, injected(418), inStream(418)],
  both({ at: 'decode', fault: 'delay', delay: 3 }, { ...ok, ms: 300 }),
  [{ at: 'decode', fault: 'crash-engine', after_tokens: 2 }, injected(500), inStream(500)],
  [{ at: 'stream', fault: 'error', status: 500, after_tokens: 3 }, injected(500), inStream(500)],
  both({ at: 'stream', fault: 'delay', delay: 3 }, { ...ok, ms: 300 }),
  both({ at: 'stream', fault: 'stall', delay: 3, after_tokens: 2 }, { ...ok, ms: 300 }),
  [
    { at: 'stream', fault: 'cut', after_tokens: 2 },
    { status: 0, end: 'cut' },
    { status: 200, end: 'cut' },
  ],
  both(
    { at: 'stream', fault: 'malformed-frame', after_tokens: 2 },
    { status: 200, end: 'malformed' },
  ),
];

describe('a fault on purpose', () => {
  let cluster: ClusterFixture | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(config: Partial<BatonConfig>): Promise<ClusterFixture> {
    const roles = { prefill: 1, decode: 1 };
    const topology = { topology: '1P1D', numGpuBlocksOverride: 512 };
    cluster = await ClusterFixture.start(roles, { dialect: 'vllm', ...topology, ...config });
    return cluster;
  }

  async function see(body: object = {}, headers: Record<string, string> = {}): Promise<Seen> {
    const startMs = performance.now();
    const seen = await look({ ...BODY, ...body }, headers);
    return { ...seen, ms: performance.now() - startMs };
  }

  async function look(body: object, headers: Record<string, string>): Promise<Omit<Seen, 'ms'>> {
    const answer = await cluster?.post(body, headers).catch(() => undefined);
    if (answer === undefined) return { status: 0, end: 'cut', retryAfter: null };
    const { status } = answer;
    const retryAfter = answer.headers.get('retry-after');
    const end = await endOf(answer, 'stream' in body && status === 200);
    return { status, end, retryAfter };
  }

  async function endOf(answer: Response, isStream: boolean): Promise<string> {
    const text = await answer.text().catch(() => undefined);
    if (text === undefined) return 'cut';
    try {
      if (!isStream) return errorIn(JSON.parse(text)) ?? 'whole';
      const { error, events } = await readStream(new Response(text));
      if (error) return String(error.code);
      return events.at(-1) === '[DONE]' ? 'whole' : 'unfinished';
    } catch {
      return 'malformed';
    }
  }

  function errorIn(body: unknown): string | undefined {
    const { error } = body as { error?: { code: unknown } };
    return error && String(error.code);
  }

  function injections(fault: FaultKind, stage: FaultStage): Promise<number> {
    const labels = { fault, stage };
    return cluster?.metric('baton:faults_injected_total', labels) ?? Promise.resolve(0);
  }

  /** Nothing runs, waits or is held anywhere, and requests are conserved. */
  async function expectRest(): Promise<void> {
    await until(async () => {
      const engines = (await cluster?.engines()) ?? [];
      return engines.every(
        ({ gauges: g }) =>
          g.kvUsage === 0 && g.running + g.waitingCapacity + g.waitingDeferred + g.heldBlocks === 0,
      );
    });
    const load = await fetch(`${cluster?.api.url}/load`);
    expect(await load.json()).toEqual({ server_load: 0 });
  }

  it.each(CASES)(
    '%j is seen by clients, counted, and leaves nothing behind',
    async (rule, whole, stream) => {
      const { fault, at } = rule as { fault: FaultKind; at: FaultStage };
      await start({ faults: JSON.stringify([rule]), link: '25gbe' });
      expectSeen(await see(), whole);
      expect(await injections(fault, at)).toBe(1);
      expectSeen(await see({ stream: true }), stream);
      expect(await injections(fault, at)).toBe(2);
      expect(await cluster?.metric('baton:faults_injected_total')).toBe(2);
      await expectRest();
    },
  );

  function expectSeen(seen: Seen, { ms = 0, ...rest }: Partial<Seen>): void {
    expect(seen).toMatchObject(rest);
    expect(seen.ms).toBeGreaterThanOrEqual(ms);
  }
});
