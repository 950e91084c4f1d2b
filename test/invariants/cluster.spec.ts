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

function check(property: (of: ClusterScenario) => void, full = 300): void {
  fc.assert(fc.property(scenario, property), { numRuns: runsOf(full) });
}

describe('INV-1: every request ends exactly once, unless its stage has lost all engines', () => {
  it('in random clusters', () => {
    check((of) => {
      const { record } = ran(of);
      const ended = [...record.log.outcome].filter((code) => OUTCOMES[code] !== 'unfinished');
      if (of.changes.length === 0) expect(ended.length).toBe(of.workload.count);
      const completed = [...record.log.outcome].filter((code) => OUTCOMES[code] === 'completed');
      const tokens = record.log.emittedTokens.reduce((sum, tokens) => sum + tokens, 0);
      const wanted = record.log.outputTokens.filter((_, row) => record.log.outcome[row] === 1);
      expect(tokens).toBe(wanted.reduce((sum, tokens) => sum + tokens, 0));
      expect(completed.length).toBe(wanted.length);
    });
  });
});

describe('INV-2: blocks in use are those of their owners, and none at rest', () => {
  it('in random clusters', () => {
    check((of) => {
      ran(of).run.audit();
    });
  });
});

describe('INV-6: no effect precedes its cause', () => {
  it('in random clusters', () => {
    check((of) => {
      const { log } = ran(of).record;
      for (let row = 0; row < log.count; row++) {
        const instants = [
          log.arrivalUs[row]!,
          log.prefillStartUs[row]!,
          log.heldUs[row]!,
          log.transferStartUs[row]!,
          log.transferEndUs[row]!,
          log.firstTokenUs[row]!,
          log.finishUs[row]!,
        ].filter((us) => us !== NEVER);
        if (OUTCOMES[log.outcome[row]!] !== 'completed') continue;
        // A prompt computed again after a lost lease has its second hold after the start of the
        // first transfer.
        expect(instants).toEqual([...instants].sort((a, b) => a - b));
      }
    });
  });
});

describe('INV-8: prompt tokens are accounted for', () => {
  it('in random clusters', () => {
    check((of) => {
      for (const engine of ran(of).record.engines) {
        const { promptTokensComputed, promptTokensCached, promptTokensTransferred } = engine;
        expect(promptTokensComputed).toBeGreaterThanOrEqual(0);
        expect(engine.prefixHitsTokens).toBeLessThanOrEqual(engine.prefixQueriesTokens);
        const all = promptTokensComputed + promptTokensCached + promptTokensTransferred;
        if (of.changes.length === 0) expect(all).toBeLessThanOrEqual(engine.prefixQueriesTokens);
      }
    });
  });
});

describe('INV-9: the same seed gives the same bytes', () => {
  it('in random clusters', () => {
    check((of) => {
      expect(ran(of).record).toEqual(ran(of).record);
    }, 100);
  });
});

describe('INV-10: a leap equals its steps', () => {
  it('in random clusters, request by request', () => {
    check((of) => {
      const leaping = factsOf(ran(of).record);
      expect(leaping).toEqual(factsOf(ran({ ...of, leap: false }).record));
    }, 600);
  });
});
