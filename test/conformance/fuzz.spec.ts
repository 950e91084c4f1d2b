import { RandomStream } from '@baton/kernel';
import type { Dialect } from '@baton/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SequenceTable } from '../../apps/api/src/sequences/sequence-table';
import { until } from '../../apps/api/test/until';
import { runsOf } from '../support/runs';
import { type Layout, LiveCluster } from './answers/live-cluster';
import { RandomBody, RIGHT } from './fuzz/random-body';

/**
 * Number of bodies; BATON_FUZZ_BODIES=10000 sets more. BATON_FUZZ_SEED=123 runs a failing seed
 * alone.
 */
const BODIES = Number(process.env['BATON_FUZZ_BODIES'] ?? runsOf(100));
const ONLY = process.env['BATON_FUZZ_SEED'];
/**
 * Maximum CPU time of a body, ms: twice what a request may cost. Other processes influence it
 * little: beside four busy loops, a stream of 500 tokens took 1,130 ms.
 */
const PATIENCE_MS = 4_000;
const REFUSALS = [400, 404, 409, 413, 422];

const CLUSTERS: readonly (readonly [Dialect, Layout])[] = [
  ['openai', 'disaggregated'],
  ['vllm', 'aggregated'],
];
const CONFIG = {
  allowRuntimeLoraUpdating: true,
  enableDevMode: true,
  reasoning: true,
  maxModelLen: 512,
  shutdownTimeout: 0.1,
};

describe.each(CLUSTERS)('random bodies in the %s dialect, %s', (dialect, layout) => {
  let cluster: LiveCluster;

  beforeAll(async () => {
    cluster = await LiveCluster.open(dialect, layout, CONFIG);
  });

  afterAll(() => cluster.close());

  /**
   * Sends one body and reads the whole answer. Returns its status, or a description of its fault.
   */
  async function send(path: string, seed: number): Promise<number | string> {
    const body = new RandomBody(RandomStream.root(seed), path).bytes();
    const before = process.cpuUsage();
    const answer = await fetch(`${cluster.url}${path}`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/json' },
    });
    const text = await answer.text();
    const { user, system } = process.cpuUsage(before);
    const tookMs = (user + system) / 1_000;
    const { status } = answer;
    const said = `${path} seed ${seed}: ${status} in ${Math.round(tookMs)} ms to ${body.toString().slice(0, 1_500)}`;
    if (tookMs > PATIENCE_MS) return `late, ${said}`;
    if (status !== 200 && !REFUSALS.includes(status)) return `${said} ${text.slice(0, 300)}`;
    if (/^event: error$|^data: \{"error"/m.test(text)) return `failed, ${said} ${text.slice(-300)}`;
    if (status !== 200) expect(JSON.parse(text), said).toBeTypeOf('object');
    return status;
  }

  it.each(Object.keys(RIGHT))('of %s are answered or refused, soon', async (path) => {
    const first = dialect === 'openai' ? 0 : BODIES;
    const seeds =
      ONLY === undefined ? Array.from({ length: BODIES }, (_, i) => first + i) : [Number(ONLY)];
    const faults: string[] = [];
    let answered = 0;
    for (const seed of seeds) {
      const outcome = await send(path, seed);
      if (typeof outcome === 'string') faults.push(outcome);
      if (outcome === 200) answered += 1;
    }
    expect(faults).toEqual([]);
    if (ONLY === undefined) expect(answered).toBeGreaterThan(0);
  });

  it('leave no requests behind, and all engines working', async () => {
    const { fixture } = cluster;
    await until(() => fixture.api.app.get(SequenceTable).size === 0);
    expect((await fetch(`${cluster.url}/health/ready`)).status).toBe(200);
    const body = { prompt: 'x', max_tokens: 2, ignore_eos: true };
    const answer = await fixture.post('/v1/completions', body);
    expect(answer.status).toBe(200);
  });
});
