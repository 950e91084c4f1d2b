import { simulate } from '@baton/simulation';
import type { EngineOptions } from '@baton/engine';
import { describe, expect, it } from 'vitest';
import { poolFor, scenarioWith, workloadOf } from '../../libs/simulation/test/test-scenario';
import type { EngineHost } from '../../libs/engine-host/src/host/engine-host';
import { World } from '../../libs/engine-host/test/test-world';
import { engineQueue } from '../../libs/engine-host/src/routing/job-routing';

/** Steps of some 0.1 s in odd numbers, so that no two events fall on the same microsecond. */
const OPTIONS: Partial<EngineOptions> = {
  numBlocks: 2_000,
  maxNumSeqs: 64,
  maxNumBatchedTokens: 4_096,
  stepTime: {
    description: 'odd',
    stepUs: (b) => 100_003.7 + 1_009.3 * b.prefillTokens + 97.1 * b.decodeContext,
    decodeLaw: () => ({ baseUs: 100_003.7, perContextUs: 97.1, contextLimit: Infinity }),
  },
};
const JOIN_US = 700_000;
const STARTUP_US = 300_000;
const LEAVE_US = 1_750_000;

/**
 * The second request goes to the engine that has joined, which leaves during that request. The
 * others go to the initial engine.
 */
const ASKED = [
  { atUs: 1, prompt: 30, output: 40, content: [1, 2, 3, 4, 5, 6, 7] },
  { atUs: 1_100_000, prompt: 20, output: 30, content: [1, 2, 3, 8] },
  { atUs: 1_200_000, prompt: 50, output: 25 },
  { atUs: 1_780_000, prompt: 40, output: 20 },
  { atUs: 1_800_000, prompt: 10, output: 30 },
  { atUs: 6_000_000, prompt: 10, output: 3 },
];
const WORKLOAD = workloadOf(ASKED);

interface Instants {
  readonly firstTokenUs: number;
  readonly finishUs: number;
}

interface Outcome {
  readonly seen: Instants[];
  /** Of the second request, whose beginning is that of the first. */
  readonly cachedTokens: number;
  /** By engine. */
  readonly steps: number[];
}

/**
 * The placement is that of the virtual run, because the broker decides otherwise which engine takes
 * a job first.
 */
async function live(engineOf: readonly number[], fetchesCache: boolean): Promise<Outcome> {
  const world = await World.open();
  const startUs = world.wall.nowUs();
  const until = (us: number): Promise<void> =>
    world.wall.advance(startUs + us - world.wall.nowUs());
  const join = (startupUs: number): Promise<EngineHost> => {
    const { options, link, kvBytesPerToken } = poolFor('aggregated', 1, OPTIONS);
    const facts = { model: 'm', tensorParallelSize: 1, kvBytesPerToken, link, ...options };
    return world.host('aggregated', { engine: options, host: { facts, startupUs, fetchesCache } });
  };
  const hosts = [await join(0)];
  const events = [
    { atUs: JOIN_US, happen: async () => void hosts.push(await join(STARTUP_US)) },
    { atUs: LEAVE_US, happen: async () => void world.stop(hosts[1]!, Infinity) },
    ...Array.from({ length: WORKLOAD.count }, (_, row) => ({
      atUs: WORKLOAD.arrivalUs[row]!,
      happen: async () => {
        const outputTokens = WORKLOAD.outputTokens[row]!;
        const promptTokens = WORKLOAD.promptTokens[row]!;
        const blockHashes = ASKED[row]?.content ?? [];
        const fields = { flow: 'local', promptTokens, outputTokens, blockHashes } as const;
        const { engineId = '' } = hosts[engineOf[row]!] ?? {};
        await world.api.jobs.add(engineQueue(engineId), [world.job(row, fields)]);
      },
    })),
  ].sort((a, b) => a.atUs - b.atUs);
  for (const { atUs, happen } of events) {
    await until(atUs);
    await happen();
  }
  const rows = Array.from({ length: WORKLOAD.count }, (_, row) => row);
  expect(await world.untilEnded(...rows)).toBe(true);
  await world.close();
  const seen = rows.map((row) => {
    const tokens = world.of(row).filter(({ count }) => count > 0);
    const [firstTokenUs = 0, finishUs = 0] = [tokens[0], tokens.at(-1)].map(
      (entry) => (entry?.stepEndUs ?? 0) - startUs,
    );
    return { firstTokenUs, finishUs };
  });
  const cachedTokens = world.of(1).find(({ kind }) => kind === 'scheduled')?.extra ?? -1;
  return { seen, cachedTokens, steps: hosts.map((host) => host.engine.counters.steps) };
}

function virtual(fetchesCaches: boolean): Outcome & { engineOf: number[] } {
  const scenario = scenarioWith('1A', WORKLOAD, { options: OPTIONS });
  const { log, engines } = simulate({
    ...scenario,
    fetchesCaches,
    pools: scenario.pools.map((pool) => ({ ...pool, startupUs: STARTUP_US })),
    changes: [
      { atUs: JOIN_US, kind: 'join', pool: 0 },
      { atUs: LEAVE_US, kind: 'leave', pool: 0 },
    ],
  });
  const seen = Array.from({ length: WORKLOAD.count }, (_, row) => ({
    firstTokenUs: log.firstTokenUs.at(row),
    finishUs: log.finishUs.at(row),
  }));
  const engineOf = Array.from({ length: WORKLOAD.count }, (_, row) => log.decodeEngine[row]!);
  const cachedTokens = log.cachedTokens[1]!;
  return { seen, cachedTokens, steps: engines.map(({ steps }) => steps), engineOf };
}

describe('INV-13: live and virtual agree', () => {
  it.each([
    ['loads', false, 0],
    ['loads, fetches the cache of the other one', true, 3 * 4],
  ])(
    'on every request while an engine joins, %s, drains and leaves',
    async (_what, fetchesCaches, found) => {
      const { engineOf, ...ours } = virtual(fetchesCaches);
      expect(engineOf).toEqual([0, 1, 0, 0, 0, 0]);
      expect(ours.cachedTokens).toBe(found);
      expect(ours.seen[1]?.finishUs).toBeGreaterThan(2 * LEAVE_US);
      expect(await live(engineOf, fetchesCaches)).toEqual(ours);
    },
  );
});
