import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveClock } from '@baton/clock';
import {
  type ClusterScenario,
  type EnginePool,
  type RecordedPlacement,
  simulate,
} from '@baton/simulation';
import { ownPolicy } from '@baton/config';
import type { Stage } from '@baton/contract';
import type { SchedulingPolicy } from '@baton/engine';
import { type HandoffEntry, lifecycleOf } from '@baton/handoff';
import { type RankOptions, StepBarrier, sharedQueue } from '@baton/engine-host';
import { OwnScheduling } from '@baton/policies';
import type { Workload } from '@baton/workload';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { poolFor, scenarioWith, workloadOf } from '../../libs/simulation/test/test-scenario';
import { settle } from '../../libs/clock/test/manual-wall-clock';
import { World } from '../../libs/engine-host/test/test-world';
import { runsOf } from '../support/runs';
import { type Cluster, CLUSTERS } from './live-virtual-clusters';

/** The events of one request: instants from the first arrival on, and counts. */
interface Facts {
  readonly heldUs: number | undefined;
  readonly kvReadyUs: number | undefined;
  readonly cachedTokens: number;
  readonly transferredTokens: number;
  readonly firstTokenUs: number;
  readonly finishUs: number;
}

interface Told {
  readonly facts: Facts[];
  readonly lifecycles: unknown;
}

const LEASE_US = 30_000_000;

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-scheduling-'));
/** Orders by lengths, arrivals and draws, preempts and begins again where vLLM's policies do. */
const MODULE = join(FOLDER, 'scheduling.mjs');
writeFileSync(
  MODULE,
  `export default {
    create: ({ random }) => ({
      preemptsLast: true,
      resumesFirst: true,
      key: ({ targetTokens, computed, order }) =>
        Math.round((targetTokens - computed) / 8) * 3 + (order % 4) + random.integer(4),
      tieKey: ({ promptTokens, arrivalUs }) => arrivalUs - promptTokens * 20_000,
    }),
  };
`,
);

const PREFILL_SLOTS = 3;

async function live(cluster: Cluster, workload: Workload): Promise<Told> {
  const { stages, options, setup, kvPool } = cluster;
  const ranks = cluster.ranks ?? 1;
  const world = await World.open();
  const entries: HandoffEntry[] = [];
  const startUs = world.wall.nowUs();
  const hosts = stages.flatMap((stage) =>
    ranksOf(world, cluster).map((dataParallel) => ({ stage, dataParallel })),
  );
  for (const { stage, dataParallel } of hosts) {
    const pool = withOwn(poolFor(stage, 1, options), cluster);
    await world.host(stage, {
      engine: pool.options,
      host: {
        ...(dataParallel && { dataParallel }),
        ...(setup && { transferTimes: setup, transferShape: setup }),
        ...(kvPool && { kvPool }),
        kvLeaseUs: LEASE_US,
        onHandoff: (entry) => entries.push(entry),
        facts: {
          model: 'm',
          tensorParallelSize: 1,
          kvBytesPerToken: pool.kvBytesPerToken,
          ...pool.options,
          link: pool.link,
        },
      },
    });
  }
  for (let row = 0; row < workload.count; row++) {
    await world.wall.advance(startUs + workload.arrivalUs[row]! - world.wall.nowUs());
    const flow = stages.includes('prefill') ? 'route' : 'local';
    const job = world.job(row, {
      requestId: String(row),
      promptTokens: workload.promptTokens[row]!,
      outputTokens: workload.outputTokens[row]!,
      maxTokens: workload.outputTokens[row]!,
      flow,
      ...(ranks === 1 ? {} : { dataParallelRank: row % ranks }),
      blockHashes: [
        ...workload.contentIds.subarray(
          workload.contentStart[row]!,
          workload.contentStart[row + 1]!,
        ),
      ],
    });
    await world.api.jobs.add(sharedQueue(stages[0]!, job.dataParallelRank), [job]);
    await settle();
  }
  const rows = Array.from({ length: workload.count }, (_, row) => row);
  expect(await world.untilEnded(...rows)).toBe(true);
  // Read-ends and releases of the last request.
  await world.wall.advance(1_000);
  await world.close();
  const facts = rows.map((row) => liveFacts(world, { row, entries, startUs }));
  return { facts, lifecycles: lifecycleOf(entries) };
}

/** Its ports, and a scheduling policy with a state of its own where slots are few. */
function withOwn(pool: EnginePool, cluster: Cluster): EnginePool {
  const own = withPorts(pool, cluster);
  if (cluster.hasOwnScheduling !== true || pool.role === 'decode') return own;
  const spec = ownPolicy<SchedulingPolicy>(MODULE, 'key');
  const schedulingPolicy = new OwnScheduling(spec, { stage: pool.role, seed: 1 });
  return { ...own, options: { ...own.options, schedulingPolicy, maxNumSeqs: PREFILL_SLOTS } };
}

/** The whole KV of a token lies on the ports of an engine in equal parts. */
function withPorts(pool: EnginePool, cluster: Cluster): EnginePool {
  const { ports: given = {}, isTimedByTokens = false } = cluster;
  const ports = given[pool.role] ?? 1;
  const link = { ...pool.link, ports, isTimedByTokens };
  return { ...pool, link, kvBytesPerToken: pool.kvBytesPerToken / ports };
}

/** The ranks of one engine, in lockstep unless dense; one undefined entry for an engine of one. */
function ranksOf(
  world: World,
  { ranks: size = 1, options, isDense = false }: Cluster,
): (RankOptions | undefined)[] {
  if (size === 1) return [undefined];
  const { stepTime } = poolFor('aggregated', 1, options).options;
  const together = new StepBarrier(new LiveClock(world.wall), size, { stepTime });
  const barrier = isDense ? undefined : together;
  const leader = () => ({ engineId: 'leader', index: 0, number: 0 });
  return Array.from({ length: size }, (_, rank) => ({ rank, size, leader, barrier }));
}

function liveFacts(
  world: World,
  of: { row: number; entries: readonly HandoffEntry[]; startUs: number },
): Facts {
  const received = world.of(of.row);
  const tokens = received.filter(
    ({ kind, count }) => count > 0 && (kind === 'tokens' || kind === 'end'),
  );
  const scheduled = received.filter(({ kind }) => kind === 'scheduled');
  const at = (us: number | undefined): number | undefined =>
    us === undefined ? us : us - of.startUs;
  const instantOf = (kind: string): number | undefined =>
    of.entries.find(({ fact }) => {
      return fact.kind === kind && 'requestId' in fact && fact.requestId === String(of.row);
    })?.fact.nowUs;
  return {
    // Simulated time starts when the hosts start.
    heldUs: instantOf('prompt-held'),
    kvReadyUs: instantOf('transfer-done'),
    cachedTokens: scheduled[0]!.extra,
    transferredTokens: scheduled.at(-1)!.count,
    firstTokenUs: at(tokens[0]!.stepEndUs)!,
    finishUs: at(tokens.at(-1)!.stepEndUs)!,
  };
}

function scenarioOf(cluster: Cluster, workload: Workload): ClusterScenario {
  const { topology, options, ranks = 1, stages, setup, kvPool } = cluster;
  const whole = scenarioWith(topology, workload, { options, kvLeaseUs: LEASE_US });
  const own = whole.pools.map((pool) => ({
    ...withOwn(pool, cluster),
    ...(setup && { transferTimes: setup, transferShape: setup }),
    ...(kvPool && { kvPool }),
  }));
  const scenario = { ...whole, pools: own };
  if (ranks === 1) return scenario;
  const turns = (stage: Stage): Int16Array =>
    Int16Array.from({ length: workload.count }, (_, row) =>
      stages.includes(stage) ? row % ranks : -1,
    );
  const recordedPlacement: RecordedPlacement = {
    prefill: turns('prefill'),
    decode: turns('decode'),
    aggregated: turns('aggregated'),
  };
  if (cluster.isDense === true) return { ...scenario, recordedPlacement };
  const dataParallel = { size: ranks, isLockstep: true };
  const pools = scenario.pools.map((pool) => ({ ...pool, dataParallel }));
  return { ...scenario, pools, recordedPlacement };
}

function virtual(cluster: Cluster, workload: Workload): Told {
  const entries: HandoffEntry<number>[] = [];
  const { log } = simulate(scenarioOf(cluster, workload), {
    onHandoff: (entry) => entries.push(entry),
  });
  const at = (us: number): number | undefined => (us < 0 ? undefined : us);
  const facts = Array.from({ length: workload.count }, (_, row) => ({
    heldUs: at(log.heldUs.at(row)),
    kvReadyUs: log.transferredTokens[row]! > 0 ? at(log.transferEndUs.at(row)) : undefined,
    cachedTokens: log.cachedTokens[row]!,
    transferredTokens: log.transferredTokens[row]!,
    firstTokenUs: log.firstTokenUs.at(row),
    finishUs: log.finishUs.at(row),
  }));
  const lifecycles = lifecycleOf(entries)
    .map((life) => ({ ...life, requestId: String(life.requestId) }))
    .sort((a, b) => (a.requestId < b.requestId ? -1 : 1));
  return { facts, lifecycles };
}

/**
 * True when a request or its KV arrives in the same microsecond in which a step ends: the live
 * clock has no order there.
 */
function hasTie(cluster: Cluster, workload: Workload): boolean {
  const stepEnds = new Set<number>();
  const { log } = simulate(
    { ...scenarioOf(cluster, workload), leap: false },
    { onSteps: ({ endUs }) => stepEnds.add(endUs) },
  );
  return [...workload.arrivalUs, ...log.transferEndUs].some((us) => stepEnds.has(us));
}

const request = fc.record({
  gapUs: fc.integer({ min: 1, max: 400_000 }),
  prompt: fc.integer({ min: 1, max: 60 }),
  output: fc.integer({ min: 1, max: 20 }),
  family: fc.integer({ min: 0, max: 2 }),
  shared: fc.integer({ min: 0, max: 12 }),
});

/** More simultaneous prompts than decode accepts before their blocks, while it decodes another. */
const BURST = Array.from({ length: 6 }, (_, i) => {
  return { gapUs: 1, prompt: 1, output: i === 0 ? 3 : 1, family: 0, shared: 0 };
});

/** The fourth reads KV instead of a step, and the last two arrive while the next batch is late. */
const AFTER_A_READ = [1, 1, 1, 188_287, 15_757, 1].map((gapUs, i) => {
  return { gapUs, prompt: i === 2 ? 2 : 1, output: 1, family: 0, shared: 0 };
});

afterAll(() => rmSync(FOLDER, { recursive: true }));

/** The requests with their instants; those of one family share prefixes. */
function workloadFrom(requests: readonly (typeof BURST)[number][]): Workload {
  let atUs = 0;
  const rows = requests.map(({ gapUs, family, shared, ...row }) => {
    atUs += gapUs;
    const content = Array.from({ length: shared }, (_, i) => 1 + family * 20 + i);
    return { ...row, atUs, content };
  });
  return workloadOf(rows);
}

describe('INV-13: live and virtual agree', () => {
  it.each(Object.keys(CLUSTERS))('on every fact of every request in %s', async (name) => {
    const cluster = CLUSTERS[name]!;
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 30 }), async (requests) => {
        const workload = workloadFrom(requests);
        fc.pre(!hasTie(cluster, workload));
        const seen = await live(cluster, workload);
        expect(seen).toEqual(virtual(cluster, workload));
      }),
      { numRuns: runsOf(150), examples: [[BURST], [AFTER_A_READ]] },
    );
  });

  it('on the order of a scheduling module, which is not that of arrival', async () => {
    const cluster = { ...CLUSTERS['1P1D']!, hasOwnScheduling: true } as const;
    // After a first step, three prompts take all slots, and two wait for them. A prompt that finds
    // no room in the engine would wait in the broker, which has no order of the module.
    const [short, long] = [fc.integer({ min: 17, max: 32 }), fc.integer({ min: 49, max: 60 })];
    const gap = fc.integer({ min: 165_000, max: 230_000 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(long, short, long, long), gap, async (prompts, gapUs) => {
        const rest = { output: 1, family: 0, shared: 0 };
        const requests = [...prompts, 16, 1].map((prompt, i) => {
          return { ...rest, prompt, gapUs: i === 4 ? gapUs : 1 };
        });
        const workload = workloadFrom(requests);
        fc.pre(!hasTie(cluster, workload));
        const seen = await live(cluster, workload);
        expect(seen.facts[5]!.heldUs).toBeLessThan(seen.facts[4]!.heldUs!);
        expect(seen).toEqual(virtual(cluster, workload));
      }),
      { numRuns: runsOf(60) },
    );
  });
});
