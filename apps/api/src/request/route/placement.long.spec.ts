import type { BatonConfig } from '@baton/config';
import { POLICY_KINDS } from '@baton/policies';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const SPLIT = { prefill: 2, decode: 2 };
const BODY = { max_tokens: 4, ignore_eos: true };
/** The requests of an engine that a busy machine delays are not placed a second time. */
const PATIENT = { presenceTtl: 60, lockDuration: 60, requestSilentAfter: 60 };

describe('a cluster with a placement policy', () => {
  let cluster: ClusterFixture;

  afterEach(() => cluster.stop());

  async function start(
    config: Partial<BatonConfig>,
    roles: Parameters<typeof ClusterFixture.start>[0] = SPLIT,
  ): Promise<void> {
    cluster = await ClusterFixture.start(roles, { ...PATIENT, ...config });
  }

  /** Expects complete answers; returns the number of decisions for each engine of the stage. */
  async function load(count: number, bodyOf: (i: number) => object): Promise<void> {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) => cluster.post({ ...BODY, ...bodyOf(i) })),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const { usage } = (await answer.json()) as { usage: { completion_tokens: number } };
      expect(usage.completion_tokens).toBe(4);
    }
  }

  async function decisions(stage: string): Promise<number[]> {
    const engines = (await cluster.engines()).filter((engine) => engine.stage === stage);
    return Promise.all(
      engines.map(({ index }) =>
        cluster.metric('baton:placement_decisions_total', { stage, engine: String(index) }),
      ),
    );
  }

  /** Presences lag behind by a fifth of a second. */
  async function untilDecided(stage: string, count: number): Promise<number[]> {
    let seen: number[] = [];
    await until(async () => {
      seen = await decisions(stage);
      return seen.reduce((sum, each) => sum + each, 0) >= count;
    });
    return seen;
  }

  const sorted = (counts: readonly number[]) => [...counts].sort((a, b) => a - b);

  const promptOf = (i: number) => `Question ${i}: ${`why is number ${i} odd? `.repeat(12)}`;

  it.each(POLICY_KINDS.flatMap((kind) => [[kind, 'late'] as const, [kind, 'early'] as const]))(
    'serves every request under %s, decode chosen %s, and sends each to one engine of a stage',
    async (placement, decodeChoice) => {
      await start({ placement, decodeChoice });
      await load(100, (i) => ({ prompt: promptOf(i), user: `user ${i % 9}` }));
      const prefill = await untilDecided('prefill', 100);
      const decode = await untilDecided('decode', 100);
      expect(prefill.every((count) => count > 0)).toBe(true);
      expect(decode.every((count) => count > 0)).toBe(true);
      expect(await cluster.metric('baton:rehomed_jobs_total')).toBe(0);
    },
  );

  it('follows a user’s own policy, and the fallback when it throws', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-own-policy-'));
    const placement = join(folder, 'last.mjs') as `${string}.mjs`;
    writeFileSync(
      placement,
      `export default { create: () => ({ choose({ engines, request }) {
        if (request.promptTokens > 100) throw new Error('too long for me');
        return engines.length - 1;
      } }) };`,
    );
    await start({ placement, decodePlacement: 'pull', placementFallback: 'round-robin' });
    const faults = (reason: string) =>
      cluster.metric('baton:policy_faults_total', { policy: 'last.mjs', stage: 'prefill', reason });
    // A busy machine can pause the process in a call, so that its answer is late.
    const late = async () => (await faults('slow')) + (await faults('no_answer'));
    await load(10, (i) => ({ prompt: `Say ${i}.` }));
    const [few, many] = sorted(await untilDecided('prefill', 10));
    expect(few! + many!).toBe(10);
    expect(many).toBeGreaterThanOrEqual(10 - (await late()));
    await load(10, (i) => ({ prompt: promptOf(i).repeat(3) }));
    const [fewer, more] = sorted(await untilDecided('prefill', 20));
    expect(fewer! + more!).toBe(20);
    expect(Math.abs(more! - 15)).toBeLessThanOrEqual(await late());
    expect(Math.abs((await faults('threw')) - 10)).toBeLessThanOrEqual(await late());
    const decided = { kind: 'placement', policy: 'last.mjs', stage: 'prefill' };
    expect(await cluster.metric('baton:policy_decisions_total', decided)).toBe(20);
    expect(await cluster.metric('baton:policy_decision_seconds_total', decided)).toBeGreaterThan(0);
    rmSync(folder, { recursive: true });
  });

  it('sends prompts with the same prefix to the same prefill engine under prefix-aware', async () => {
    const perToken = { stepTime: 'per-token', prefillTimePerToken: 0.5 } as const;
    await start({ placement: 'prefix-aware', decodePlacement: 'pull', ...perToken });
    const beginnings = ['Once upon a time, ', 'It was a dark night. '].map((text) =>
      text.repeat(40),
    );
    for (const beginning of beginnings) await load(1, () => ({ prompt: beginning }));
    for (let i = 0; i < 10; i += 1) {
      // A load published while a prompt was computed makes its engine look later than the other.
      await cluster.untilIdle();
      await load(1, () => ({ prompt: `${beginnings[i % 2]} And then came number ${i}.` }));
    }
    expect(await untilDecided('prefill', 12)).toEqual([6, 6]);
    const hits = await cluster.metric('vllm:prompt_tokens_by_source_total', {
      source: 'local_cache_hit',
    });
    expect(hits).toBeGreaterThan(10 * 100);
    expect(await decisions('decode')).toEqual([0, 0]);
  });

  it.each([
    ['x-session-id', (session: string) => [{}, { 'x-session-id': session }]],
    ['user', (session: string) => [{ user: session }, {}]],
    ['prompt_cache_key', (session: string) => [{ prompt_cache_key: session }, {}]],
  ] as const)(
    'keeps a session, named by %s, on its engines under session-sticky',
    async (_, say) => {
      await start({ placement: 'session-sticky' });
      for (let i = 0; i < 8; i += 1) {
        const [fields, headers] = say('one session');
        const answer = await cluster.post({ ...BODY, prompt: promptOf(i), ...fields }, headers);
        expect(answer.status).toBe(200);
      }
      expect((await untilDecided('prefill', 8)).sort()).toEqual([0, 8]);
      expect((await untilDecided('decode', 8)).sort()).toEqual([0, 8]);
    },
  );

  it('computes short prompts on their decode engine without any transfer', async () => {
    await start({ placement: 'least-requests', disaggregationThreshold: 64 });
    await load(20, (i) => ({ prompt: `Say ${i}.` }));
    expect(await cluster.metric('baton:prefills_on_decode_total')).toBe(20);
    expect(await untilDecided('decode', 20)).not.toContain(20);
    expect(await decisions('prefill')).toEqual([0, 0]);
    expect(await cluster.metric('vllm:nixl_bytes_transferred_count')).toBe(0);
    await load(3, (i) => ({ prompt: promptOf(i) }));
    await until(async () => (await cluster.metric('vllm:nixl_bytes_transferred_count')) === 3);
    expect(await cluster.metric('baton:prefills_on_decode_total')).toBe(20);
  });

  it('computes short prompts on decode under pull as well', async () => {
    await start({ disaggregationThreshold: 64 });
    await load(20, (i) => ({ prompt: i % 2 === 0 ? `Say ${i}.` : promptOf(i) }));
    expect(await cluster.metric('baton:prefills_on_decode_total')).toBe(10);
    await until(async () => (await cluster.metric('vllm:nixl_bytes_transferred_count')) === 10);
  });

  it('places over aggregated engines too', async () => {
    await start({ placement: 'round-robin' }, { aggregated: 2 });
    await load(10, (i) => ({ prompt: promptOf(i) }));
    expect(await untilDecided('aggregated', 10)).toEqual([5, 5]);
  });

  it('refuses at once requests that would be too late, with a retry time', async () => {
    // Steps are long compared to the time in which a busy machine brings all requests to the gate.
    await start({
      placement: 'least-tokens',
      admissionSloTtft: 2_000,
      speedup: 1,
      timeToFirstToken: 400,
      maxNumBatchedTokens: 128,
      maxNumSeqs: 128,
    });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => cluster.post({ ...BODY, prompt: promptOf(i) })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    // A step takes 400 ms and holds one and a half prompts, so about seven prompts in a row are in
    // time at each engine.
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(10);
    expect(refused.length).toBeGreaterThanOrEqual(10);
    const { error } = (await refused[0]?.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('rate_limit_exceeded');
    expect(error.message).toContain('TTFT limit');
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(await cluster.metric('baton:slo_refusals_total')).toBe(refused.length);
  });
});
