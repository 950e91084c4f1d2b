import type { BatonConfig } from '@baton/config';
import type { FaultKind, FaultStage } from '@baton/contract';
import { RandomStream } from '@baton/kernel';
import { parseTopology } from '@baton/policies';
import { afterEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const MODEL = 'llama-3.1-8b';
const TOKENS = 6;
const SAID = { messages: [{ role: 'user', content: 'Hi' }] };
const BODY = { prompt: 'Anna runs.', max_tokens: TOKENS, ignore_eos: true };

/** The outcome of one request for its client. */
interface Seen {
  /** 0: the connection was cut before an answer. */
  readonly status: number;
  /** Status or code of the error, or `cut` or `malformed`. */
  readonly end: string;
  readonly retryAfter: string | null;
  readonly ms: number;
}

type Case = readonly [fault: object, whole: Partial<Seen>, stream: Partial<Seen>];

const ok = { status: 200, end: 'whole' };
const injected = (status: number): Partial<Seen> => ({ status, end: String(status) });
const inStream = (code: number | string): Partial<Seen> => ({ status: 200, end: String(code) });
const both = (fault: object, seen: Partial<Seen>): Case => [fault, seen, seen];

/** Every fault at every stage where it may happen: the outcome without and with a stream. */
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

describe('an injected fault', () => {
  let cluster: ClusterFixture | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(topology: string, config: Partial<BatonConfig>): Promise<ClusterFixture> {
    const { prefill, decode, aggregated } = parseTopology(topology);
    const small = { dialect: 'vllm', numGpuBlocksOverride: 512, link: '25gbe' } as const;
    const all = { ...small, topology, ...config };
    cluster = await ClusterFixture.start({ prefill, decode, aggregated }, all);
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

  /** Expects that nothing runs, waits or is held anywhere, and that requests are conserved. */
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

  async function meet(topology: string, [rule, whole, stream]: Case): Promise<void> {
    const { fault, at } = rule as { fault: FaultKind; at: FaultStage };
    await start(topology, { faults: JSON.stringify([rule]) });
    expectSeen(await see(), whole);
    expect(await injections(fault, at)).toBe(1);
    expectSeen(await see({ stream: true }), stream);
    expect(await injections(fault, at)).toBe(2);
    expect(await cluster?.metric('baton:faults_injected_total')).toBe(2);
    await expectRest();
  }

  function expectSeen(seen: Seen, { ms = 0, ...rest }: Partial<Seen>): void {
    expect(seen).toMatchObject(rest);
    expect(seen.ms).toBeGreaterThanOrEqual(ms);
  }

  it.each(CASES)('%j is seen by clients, counted, and leaves nothing behind', (...row) =>
    meet('1P1D', row),
  );

  it.each(CASES.filter(([rule]) => (rule as { at: FaultStage }).at !== 'transfer'))(
    '%j is seen the same where one engine does both',
    (...row) => meet('1A', row),
  );

  it.each([1, 2, 3])(
    'INV-1, INV-2: under any faults, every request ends and no block is lost (seed %i)',
    async (seed) => {
      const rules = randomRules(RandomStream.root(seed));
      const target = await start('2P1D1A', { faults: JSON.stringify(rules), seed });
      const requests = Array.from({ length: 40 }, (_none, i) =>
        see({ prompt: `Runner ${i} runs.`, ...(i % 2 === 0 ? {} : { stream: true }) }),
      );
      const ends = (await Promise.all(requests)).map(({ end }) => end);
      expect(ends.filter((end) => end === 'unfinished')).toEqual([]);
      expect(await target.metric('baton:faults_injected_total')).toBeGreaterThan(0);
      await expectRest();
      // Three runs of each of two stages are the most that a request may take.
      const runs = await target.metric('baton:runs_started_total');
      expect(runs).toBeLessThanOrEqual(40 * 2 * 3);
    },
  );

  it.each([
    ['/v1/chat/completions', { ...SAID, max_tokens: 16 }, 'with status 418.'],
    ['/v1/messages', { ...SAID, max_tokens: 16, model: MODEL }, 'event: error'],
    ['/v1/responses', { input: 'Hi', max_output_tokens: 16 }, 'response.failed'],
  ])('ends a stream of %s with an error in its own shape', async (path, body, shape) => {
    const error = { at: 'stream', fault: 'error', status: 418, after_tokens: 2 };
    const target = await start('1A', { faults: JSON.stringify([error]), dialect: 'openai' });
    const answer = await fetch(`${target.api.url}${path}`, {
      method: 'POST',
      body: JSON.stringify({ ...body, stream: true }),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain(shape);
    await expectRest();
  });

  it.each([
    [{ at: 'queue', fault: 'cut' }, 'completed'],
    [{ at: 'stream', fault: 'cut' }, 'completed'],
    [{ at: 'stream', fault: 'malformed-frame' }, 'completed'],
    [{ at: 'stream', fault: 'stall', delay: 1 }, 'completed'],
    [{ at: 'stream', fault: 'error' }, 'failed'],
    [{ at: 'prefill', fault: 'error' }, 'failed'],
  ])('%j leaves a response in the background %s', async (rule, status) => {
    const rules = {
      faults: JSON.stringify([rule]),
      dialect: 'openai',
      outputLength: 'constant',
    } as const;
    const target = await start('1A', { ...rules, outputLengthMean: 5 });
    const post = await fetch(`${target.api.url}/v1/responses`, {
      method: 'POST',
      body: JSON.stringify({ input: 'Hi', background: true }),
      headers: { 'content-type': 'application/json' },
    });
    const { id } = (await post.json()) as { id: string };
    const look = async (): Promise<unknown> =>
      ((await (await fetch(`${target.api.url}/v1/responses/${id}`)).json()) as { status: string })
        .status;
    await until(async () => (await look()) === status);
    await expectRest();
  });
});

/** One rule per fault and stage, each for about a tenth of the requests. */
function randomRules(random: RandomStream): object[] {
  return CASES.map(([rule]) => ({ ...rule, rate: 0.02 + random.unit() * 0.15 }));
}
