import fc from 'fast-check';
import { NEVER, OUTCOMES, type RunRecord } from '@baton/analysis';
import type { ClusterScenario, MembershipChange } from '@baton/simulation';
import { describe, expect, it } from 'vitest';
import { ClusterRun } from '../../libs/simulation/src/driver';
import {
  type TestRequest,
  scenarioWith,
  workloadOf,
} from '../../libs/simulation/test/test-scenario';
import { runsOf } from '../support/runs';

const asked: fc.Arbitrary<TestRequest & { family: number; shared: number }> = fc.record({
  atUs: fc.integer({ min: 0, max: 120_000 }),
  prompt: fc.integer({ min: 1, max: 120 }),
  output: fc.integer({ min: 1, max: 50 }),
  priority: fc.integer({ min: 0, max: 2 }),
  session: fc.integer({ min: 0, max: 4 }),
  family: fc.integer({ min: 0, max: 3 }),
  shared: fc.integer({ min: 0, max: 40 }),
});

const policy = fc.constantFrom(
  'pull' as const,
  'pull' as const,
  { kind: 'round-robin' } as const,
  { kind: 'random' } as const,
  { kind: 'least-requests' } as const,
  { kind: 'least-tokens' } as const,
  { kind: 'power-of-two' } as const,
  { kind: 'prefix-aware' } as const,
  { kind: 'session-sticky' } as const,
);

const change: fc.Arbitrary<MembershipChange> = fc.record({
  atUs: fc.integer({ min: 0, max: 150_000 }),
  kind: fc.constantFrom('join', 'leave', 'become'),
  pool: fc.constant(0),
  to: fc.constant(0),
});

const scenario: fc.Arbitrary<ClusterScenario> = fc
  .record({
    topology: fc.constantFrom('1P1D', '2P1D', '1P3D', '2A', '2P2D1A'),
    asked: fc.array(asked, { maxLength: 40 }),
    blockSize: fc.constantFrom(1, 4, 16),
    numBlocks: fc.integer({ min: 12, max: 80 }),
    maxNumSeqs: fc.integer({ min: 1, max: 8 }),
    maxNumBatchedTokens: fc.integer({ min: 8, max: 128 }),
    enableChunkedPrefill: fc.boolean(),
    schedulingPolicy: fc.constantFrom('fcfs', 'priority', 'sjf'),
    schedulerReserveFullIsl: fc.boolean(),
    globalCacheHitThreshold: fc.constantFrom(0, 0, 0.3),
    drafts: fc.constantFrom(0, 0, 3),
    isAsync: fc.boolean(),
    endsByEos: fc.boolean(),
    prefill: policy,
    decode: policy,
    decodeChoice: fc.constantFrom('early', 'late'),
    disaggregationThreshold: fc.constantFrom(0, 0, 10),
    kvLeaseUs: fc.constantFrom(20_000, 30_000_000),
    maxWaitingRequests: fc.constantFrom(Infinity, 4),
    maxConcurrency: fc.constantFrom(Infinity, Infinity, 3),
    changes: fc.array(change, { maxLength: 3 }),
    seed: fc.nat(1_000),
    dataParallel: fc.constantFrom(
      ...[undefined, undefined],
      ...[true, false].map((isLockstep) => ({ size: 2, isLockstep })),
    ),
  })
  .map((r) => {
    const { blockSize, numBlocks, maxNumSeqs, enableChunkedPrefill, schedulingPolicy } = r;
    const maxNumBatchedTokens = Math.max(maxNumSeqs, r.maxNumBatchedTokens);
    const { prefill, decode, decodeChoice, disaggregationThreshold } = r;
    const { schedulerReserveFullIsl, globalCacheHitThreshold } = r;
    const speculation = { tokens: r.drafts, acceptanceRate: 0.6 };
    const rows = r.asked.map(({ family, shared, ...row }) => ({
      ...row,
      content: Array.from({ length: Math.ceil(shared / blockSize) }, (_, i) => family * 50 + i + 1),
    }));
    const scenario = scenarioWith(r.topology, workloadOf(rows, blockSize), {
      kvLeaseUs: r.kvLeaseUs,
      maxWaitingRequests: r.maxWaitingRequests,
      seed: r.seed,
      maxConcurrency: r.maxConcurrency,
      changes: r.changes,
      endsByEos: r.endsByEos,
      placement: { prefill, decode, decodeChoice, disaggregationThreshold },
      options: {
        blockSize,
        numBlocks,
        maxNumSeqs,
        maxNumBatchedTokens,
        maxModelLen: 300,
        enableChunkedPrefill,
        schedulingPolicy,
        schedulerReserveFullIsl,
        globalCacheHitThreshold,
        ...(r.drafts > 0 ? { speculation } : {}),
        ...(r.isAsync ? { asyncScheduling: true, hasConnector: true } : {}),
      },
    });
    const { dataParallel } = r;
    if (dataParallel === undefined) return scenario;
    const pools = scenario.pools.map((pool) => {
      return { ...pool, dataParallel, count: pool.count * dataParallel.size };
    });
    return { ...scenario, pools };
  });

function ran(of: ClusterScenario): { run: ClusterRun; record: RunRecord } {
  const run = new ClusterRun(of, {});
  return { run, record: run.run() };
}

/** All facts of a run except the number of the driver's events. */
function factsOf({ log, engines, itl, endUs, steps }: RunRecord): unknown {
  const { sumUs, count, maxUs, minUs } = itl;
  return { log, engines, itl: { sumUs, count, maxUs, minUs }, endUs, steps };
}

/** Every request ends exactly once, unless its stage has lost all engines. */
function checkEnds({ log }: RunRecord, { changes, workload }: ClusterScenario): void {
  const outcomes = [...log.outcome].map((code) => OUTCOMES[code]);
  const ended = outcomes.filter((outcome) => outcome !== 'unfinished');
  if (changes.length === 0) expect(ended.length, 'INV-1').toBe(workload.count);
  const completed = outcomes.filter((outcome) => outcome === 'completed');
  const wanted = log.outputTokens.filter((_, row) => log.outcome[row] === 1);
  const sum = (tokens: Iterable<number>): number => [...tokens].reduce((all, one) => all + one, 0);
  expect(sum(log.emittedTokens), 'INV-1').toBe(sum(wanted));
  expect(completed.length, 'INV-1').toBe(wanted.length);
}

/** No effect precedes its cause. */
function checkOrder({ log }: RunRecord): void {
  for (let row = 0; row < log.count; row++) {
    const instants = [
      log.arrivalUs.at(row),
      log.prefillStartUs.at(row),
      log.heldUs.at(row),
      log.transferStartUs.at(row),
      log.transferEndUs.at(row),
      log.firstTokenUs.at(row),
      log.finishUs.at(row),
    ].filter((us) => us !== NEVER);
    if (OUTCOMES[log.outcome[row]!] !== 'completed') continue;
    // A prompt computed again after a lost lease has its second hold after the start of the first
    // transfer.
    expect(instants, 'INV-6').toEqual([...instants].sort((a, b) => a - b));
  }
}

/** Prompt tokens are accounted for. */
function checkOrigins({ engines }: RunRecord, { changes }: ClusterScenario): void {
  for (const engine of engines) {
    const { promptTokensComputed, promptTokensCached, promptTokensTransferred } = engine;
    expect(promptTokensComputed, 'INV-8').toBeGreaterThanOrEqual(0);
    expect(engine.prefixHitsTokens, 'INV-8').toBeLessThanOrEqual(engine.prefixQueriesTokens);
    const all = promptTokensComputed + promptTokensCached + promptTokensTransferred;
    if (changes.length === 0) expect(all, 'INV-8').toBeLessThanOrEqual(engine.prefixQueriesTokens);
  }
}

describe('a random cluster', () => {
  it('ends every request once, frees its blocks, keeps causes before effects, accounts for prompt tokens, and does so in leaps as in steps (INV-1, INV-2, INV-6, INV-8, INV-10)', () => {
    const property = fc.property(scenario, (of) => {
      const { run, record } = ran(of);
      checkEnds(record, of);
      run.audit();
      checkOrder(record);
      checkOrigins(record, of);
      const stepped = ran({ ...of, leap: false }).record;
      expect(factsOf(record), 'INV-10').toEqual(factsOf(stepped));
    });
    fc.assert(property, { numRuns: runsOf(600) });
  });

  it('gives the same bytes for the same seed (INV-9)', () => {
    const property = fc.property(scenario, (of) => {
      expect(ran(of).record).toEqual(ran(of).record);
    });
    fc.assert(property, { numRuns: runsOf(100) });
  });
});
