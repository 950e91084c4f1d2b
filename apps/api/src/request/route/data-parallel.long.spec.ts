import type { BatonConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../test/support/free-port';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const BODY = { prompt: 'Pass the baton on.', max_tokens: 4, ignore_eos: true };
const HEADER = 'x-data-parallel-rank';

describe('engines of two data-parallel ranks', () => {
  let cluster: ClusterFixture;
  afterEach(() => cluster.stop());

  async function start(config: Partial<BatonConfig> = {}): Promise<void> {
    const roles = { prefill: 1, decode: 2 };
    cluster = await ClusterFixture.start(roles, { dataParallelSize: 2, ...config });
  }

  async function ask(count: number, rank?: number): Promise<void> {
    const headers = rank === undefined ? {} : { [HEADER]: String(rank) };
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        cluster.post({ ...BODY, prompt: `Runner ${i} waits.` }, headers),
      ),
    );
    for (const answer of answers) expect(answer.status).toBe(200);
  }

  /** Tokens that the engines of one rank have computed or generated. */
  async function workOf(rank: number): Promise<{ prompt: number; generated: number }> {
    const engine = String(rank);
    return {
      prompt: await cluster.metric('vllm:prompt_tokens_by_source_total', {
        engine,
        source: 'local_compute',
      }),
      generated: await cluster.metric('vllm:generation_tokens_total', { engine }),
    };
  }

  async function ranks(): Promise<EnginePresence[]> {
    return [...(await cluster.engines())].sort((a, b) => a.index - b.index);
  }

  it('have two schedulers each, with separate KV caches', async () => {
    await start();
    const engines = await ranks();
    expect(engines.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(engines.map(({ gauges }) => gauges.numBlocks)).toEqual(engines.map(() => 4_095));
    const replicas = new Map<string, number[]>();
    for (const { dataParallel } of engines) {
      const { replicaId = '', rank = -1 } = dataParallel ?? {};
      replicas.set(replicaId, [...(replicas.get(replicaId) ?? []), rank]);
    }
    expect([...replicas.values()].map((of) => of.sort())).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
  });

  it.each(['pull', 'round-robin', 'prefix-aware'] as const)(
    'run a request in the rank that it names, in both stages, under %s',
    async (placement) => {
      await start({ placement });
      for (const rank of [1, 0, 1]) {
        const before = [await workOf(0), await workOf(1)];
        await ask(6, rank);
        // Each engine announces its own work, so the two stages show theirs one after the other.
        await until(async () => {
          const { generated, prompt } = await workOf(rank);
          const isDecoded = generated >= (before[rank]?.generated ?? 0) + 6 * BODY.max_tokens;
          return isDecoded && prompt > (before[rank]?.prompt ?? 0);
        });
        expect(await workOf(1 - rank)).toEqual(before[1 - rank]);
      }
    },
  );

  it('share the requests that name no rank', async () => {
    await start({ maxNumSeqs: 4 });
    await ask(60);
    await until(async () => (await workOf(0)).generated + (await workOf(1)).generated === 240);
    expect((await workOf(0)).generated).toBeGreaterThan(0);
    expect((await workOf(1)).generated).toBeGreaterThan(0);
  });

  it('are distinguished in metrics by rank and by engine', async () => {
    await start();
    await ask(2);
    const page = await (await fetch(`${cluster.api.url}/metrics`)).text();
    const series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const names = series.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(names).size).toBe(names.length);
    const running = names.filter((name) => name.startsWith('vllm:num_requests_running{'));
    const replicas = [...new Set((await ranks()).map((of) => of.dataParallel?.replica))];
    expect(running.sort()).toEqual(
      ['0', '1']
        .flatMap((rank) => replicas.map((replica) => `engine="${rank}",replica="${replica}"`))
        .map((labels) => `vllm:num_requests_running{${labels},model_name="llama-3.1-8b"}`)
        .sort(),
    );
    expect(page).toMatch(/vllm:request_success_total\{engine="[01]",replica="\d",model_name/);
  });

  it('have a port each, at which another rank of the same engine can be named', async () => {
    const firstPort = await freePort(6);
    await start({ exposeEngines: true, exposeEnginesPort: firstPort });
    const target = (await ranks()).findLast((of) => of.stage === 'decode') as EnginePresence;
    const other = (await ranks()).find(
      ({ engineId, dataParallel }) =>
        dataParallel?.replicaId === target.dataParallel?.replicaId && engineId !== target.engineId,
    ) as EnginePresence;
    const url = `http://127.0.0.1:${firstPort + target.index}`;
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(BODY),
      });
    const stepsOf = async ({ engineId }: EnginePresence): Promise<number> =>
      (await cluster.engines()).find((of) => of.engineId === engineId)?.counters['steps'] ?? 0;
    expect((await post({})).status).toBe(200);
    await until(async () => (await stepsOf(target)) > 0);
    expect(await stepsOf(other)).toBe(0);
    expect((await post({ [HEADER]: String(other.dataParallel?.rank) })).status).toBe(200);
    await until(async () => (await stepsOf(other)) > 0);
    const page = await (await fetch(`${url}/metrics`)).text();
    expect(page).toContain(`vllm:num_requests_running{engine="${target.dataParallel?.rank}"`);
    expect(page).not.toContain(`vllm:num_requests_running{engine="${other.dataParallel?.rank}"`);
  });

  it.each([
    ['2', 'data_parallel_rank 2 is out of range [0, 2).'],
    ['-1', 'data_parallel_rank -1 is out of range [0, 2).'],
    ['1.0', "X-data-parallel-rank must be an integer from 0 to 1; '1.0' is not."],
    ['any', "X-data-parallel-rank must be an integer from 0 to 1; 'any' is not."],
    ['', "X-data-parallel-rank must be an integer from 0 to 1; '' is not."],
  ])('refuse rank %j', async (rank, message) => {
    await start();
    const answer = await cluster.post(BODY, { [HEADER]: rank });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: { message, type: 'invalid_request_error', param: null, code: 'invalid_value' },
      },
    ]);
  });

  it("refuse a rank in vLLM's words and shape", async () => {
    await start({ dialect: 'vllm' });
    const answer = await cluster.post(BODY, { [HEADER]: '7' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message: 'data_parallel_rank 7 is out of range [0, 2).',
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
      },
    ]);
  });

  it('of one rank accept only rank 0', async () => {
    await start({ dataParallelSize: 1 });
    await ask(1, 0);
    expect((await cluster.post(BODY, { [HEADER]: '1' })).status).toBe(400);
    expect((await ranks()).map((of) => of.dataParallel)).toEqual([undefined, undefined, undefined]);
  });
});
