import type {
  AdmissionPolicy,
  EngineView,
  OwnSpec,
  PlacementContext,
  Policy,
} from '@baton/policies';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { scenarioWith, workloadOf } from '../test/test-scenario';
import { simulate } from './driver';

const BLOCK = 4;
/** The first block of each conversation is its number times this. */
const CONVERSATION = 1_000;

interface Turn {
  readonly session: number;
  readonly prompt: number;
  readonly outputs: readonly [number, number];
}

const turns = fc.array(
  fc.record({
    session: fc.integer({ min: 1, max: 3 }),
    prompt: fc.integer({ min: 1, max: 60 }),
    outputs: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })),
  }),
  { minLength: 2, maxLength: 12 },
);

/** Everything that a user's policies read, one text per call. */
class Notes {
  readonly calls: string[] = [];
  private readonly names = new Map<number, number>();

  readonly placement: OwnSpec<Policy> = {
    kind: 'own',
    path: 'notes.mjs',
    module: {
      create: () => ({
        choose: (context) => {
          this.note(context);
          return this.calls.length % context.engines.length;
        },
      }),
    },
  };

  readonly admission: OwnSpec<AdmissionPolicy> = {
    kind: 'own',
    path: 'notes.mjs',
    module: {
      create: () => ({
        admit: (context) => {
          this.note(context, context.predictedTtftUs());
          return true;
        },
      }),
    },
  };

  private note(context: PlacementContext, ttftUs = 0): void {
    const { request, engines } = context;
    const { blockHashes, ...rest } = request;
    const hashes = Array.from(blockHashes, (hash) => this.nameOf(hash));
    const seen = engines.map((engine) => ({
      requests: engine.requests,
      waitingRequests: engine.waitingRequests,
      waitingTokens: engine.waitingTokens,
      kvTokens: engine.kvTokens,
      cached: context.cachedTokens(engine),
    }));
    this.calls.push(JSON.stringify({ rest, hashes, seen, ttftUs }));
  }

  /** Contents are numbered in their order in the trace, so only their equality matters. */
  private nameOf(hash: number): number {
    if (!this.names.has(hash)) this.names.set(hash, this.names.size);
    return this.names.get(hash)!;
  }
}

/** The calls of the policies when all turns arrive at once, so no output exists at any of them. */
function callsOf(asked: readonly Turn[], version: 0 | 1, topology: string): string[] {
  const requests = asked.map(({ session, prompt, outputs }) => {
    const output = outputs[version];
    const blocks = Math.floor((prompt + output) / BLOCK);
    const content = Array.from({ length: blocks }, (_, i) => session * CONVERSATION + i);
    return { session, prompt, output, content };
  });
  const notes = new Notes();
  const { placement, admission } = notes;
  const scenario = scenarioWith(topology, workloadOf(requests, BLOCK), {
    admission,
    placement: {
      prefill: placement,
      decode: placement,
      decodeChoice: 'early',
      disaggregationThreshold: 0,
    },
  });
  simulate(scenario);
  return notes.calls;
}

describe("the view of a user's policies", () => {
  it('INV-12: is the same when only the lengths of outputs differ', () => {
    fc.assert(
      fc.property(turns, fc.constantFrom('3A', '2P2D'), (asked, topology) => {
        const calls = callsOf(asked, 0, topology);
        expect(calls.length).toBeGreaterThan(asked.length);
        expect(calls).toEqual(callsOf(asked, 1, topology));
      }),
      { numRuns: runsOf(100) },
    );
  });
});

/** Loads that a policy reads when it places these requests, all on the first engine. */
function loadsSeen<Load>(
  requests: Parameters<typeof workloadOf>[0],
  read: (engine: EngineView) => Load,
  over: {
    readonly maxNumSeqs?: number;
    readonly metricsIntervalUs?: number;
    /** Reads decode engines, which are chosen at arrival. Unset: aggregated ones. */
    readonly isEarly?: true;
  } = {},
): Load[] {
  const seen: Load[] = [];
  const { maxNumSeqs = 8, metricsIntervalUs = 0, isEarly = false } = over;
  const choose: Policy['choose'] = ({ stage, engines }) => {
    if (!isEarly || stage === 'decode') seen.push(read(engines[0]!));
    return 0;
  };
  const module = { create: () => ({ choose }) };
  const placement: OwnSpec<Policy> = { kind: 'own', path: 'first.mjs', module };
  const scenario = scenarioWith(isEarly ? '1P2D' : '2A', workloadOf(requests, BLOCK), {
    options: { maxNumSeqs },
    placement: {
      prefill: placement,
      decode: placement,
      metricsIntervalUs,
      decodeChoice: isEarly ? 'early' : 'late',
      disaggregationThreshold: 0,
    },
  });
  simulate(scenario);
  return seen;
}

describe('the load of an engine', () => {
  it('counts of a request on its way only the tokens that are probably not cached', () => {
    const requests = Array.from({ length: 4 }, () => ({ prompt: 70, content: [1, 2, 3, 4] }));
    const seen = loadsSeen(requests, (engine) => engine.waitingTokens, { maxNumSeqs: 1 });
    // The engine takes the first prompt whole. Of the others, 16 of 70 tokens are cached.
    expect(seen).toEqual([0, 70, 70 + 54, 70 + 54 + 54]);
  });

  it('has a request from its arrival on when decode is chosen early, and not after its end', () => {
    const requests = [0, 0, 0, 900_000].map((atUs) => ({ atUs, prompt: 10 }));
    const read = ({ requests, waitingTokens }: EngineView): number[] => [requests, waitingTokens];
    const seen = [
      [0, 0],
      [1, 10],
      [2, 20],
      [0, 0],
    ];
    expect(loadsSeen(requests, read, { isEarly: true })).toEqual(seen);
    expect(loadsSeen(requests, read, { isEarly: true, metricsIntervalUs: 800_000 })).toEqual(seen);
  });

  it('is that of the last scrape and the requests sent since, when metrics have an interval', () => {
    // Each request ends some 5 ms after its arrival.
    const requests = [0, 10, 20, 49, 50, 60].map((ms) => ({ atUs: ms * 1_000 }));
    const seen = (metricsIntervalUs: number): number[] =>
      loadsSeen(requests, (engine) => engine.requests, { metricsIntervalUs });
    expect(seen(0)).toEqual([0, 0, 0, 0, 1, 0]);
    expect(seen(50_000)).toEqual([0, 1, 2, 3, 1, 2]);
  });
});
