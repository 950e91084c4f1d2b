import { RandomStream } from '@baton/kernel';
import { formatTopology, parseEngines } from '../../placement/topology/topology';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf, type Shown } from '../../../test/test-cluster';
import { buildAutoscaler } from '../written/build-autoscaler';
import { parseAutoscaler } from '../written/parse-autoscaler';
import { EngineCapacity } from './capacity';

/** 1 ms a step, 0.1 ms a prompt token, 1 ms a decoding sequence, 0.01 ms a token of its KV. */
const CAPACITY = new EngineCapacity({
  stepTime: {
    description: 'readable',
    stepUs: ({ prefillTokens, decodeSeqs, decodeContext }) =>
      1_000 + 100 * prefillTokens + 1_000 * decodeSeqs + 10 * decodeContext,
  },
  maxNumBatchedTokens: 1_000,
  maxNumSeqs: 256,
  kvTokens: 1_000,
});
/** Requests of one scrape interval of 5 s, and the mean lengths of those that have finished. */
const [REQUESTS, PROMPT, OUTPUT] = [225, 1_000, 100];

function totals(requests = REQUESTS): NonNullable<Shown['totals']> {
  return {
    arrived: requests,
    finished: requests,
    promptTokens: requests * PROMPT,
    outputTokens: requests * OUTPUT,
  };
}

type Load = Pick<Shown, 'engines' | 'running' | 'kv' | 'queued' | 'starting' | 'waiting'>;

/** The counts after one scrape with this load; the objectives are 500 ms and 50 ms. */
function decided(load: Load, text = ''): string {
  const policy = buildAutoscaler(parseAutoscaler(`sla-load:ttft=0.5:itl=0.05${text}`), {
    capacities: { prefill: CAPACITY, decode: CAPACITY, aggregated: CAPACITY },
    random: RandomStream.root(1),
  });
  const context = contextOf({ ...load, atSeconds: 5, totals: totals() });
  const previous = contextOf({ totals: totals(0) }).sample;
  return formatTopology(policy.decide({ ...context, previous }).counts);
}

/** The FPM of one engine, and the counts of its sequences, as Dynamo's planner gets them. */
interface Observed {
  readonly queuedPrefillTokens: number;
  readonly sequences: number;
  readonly scheduledDecodeKv: number;
  readonly queuedDecodeKv: number;
  readonly averageDecodeLength: number;
  /** Prompt tokens of a mean step. */
  readonly prefillTokens: number;
}

/** The regression, with the step time of `CAPACITY`. */
function wallSeconds(prefillTokens: number, decodeSeqs: number, decodeKv: number): number {
  const tokens = Math.round(prefillTokens);
  return (1_000 + 100 * tokens + 1_000 * Math.round(decodeSeqs) + 10 * Math.round(decodeKv)) / 1e6;
}

/** `estimate_next_ttft` in perf_model/prefill.py and agg.py, chunk by chunk. */
function publishedTtft(queuedTokens: number, decodeSeqs: number, decodeKv: number): number {
  let seconds = 0;
  for (let left = queuedTokens + PROMPT; left > 1e-6; left -= 1_000) {
    seconds += wallSeconds(Math.min(left, 1_000), decodeSeqs, decodeKv);
  }
  return seconds;
}

/** `estimate_next_itl` in perf_model/decode.py and agg.py. */
function publishedItl(one: Observed, scheduledKv: number, queuedKv: number): number {
  const kv = scheduledKv + queuedKv + one.averageDecodeLength;
  return wallSeconds(one.prefillTokens, one.sequences + 1, kv);
}

/** `_scale_decision` in load_scaling.py. */
function publishedStep(
  estimates: readonly number[],
  objective: number,
  canScaleDown: boolean,
): number {
  if (estimates.every((each) => each > objective)) return 1;
  return estimates.length > 1 && canScaleDown ? -1 : 0;
}

function consolidationOf({ length }: readonly Observed[]): number {
  return length > 1 ? length / (length - 1) : 1;
}

const SENSITIVITY = 0.8;
const [TTFT, ITL] = [0.5, 0.05];

/** `_prefill_load_decision`, and `_agg_prefill_scaling` for engines that decode too. */
function publishedPrefillStep(all: readonly Observed[]): number {
  const consolidation = consolidationOf(all);
  const estimates = all.map((one) =>
    publishedTtft(one.queuedPrefillTokens, one.sequences, one.scheduledDecodeKv),
  );
  const isSafe = all.every((one) => {
    const [sequences, kv] = [one.sequences, one.scheduledDecodeKv].map((x) => x * consolidation);
    const own = publishedTtft(0, sequences!, kv!);
    const after = publishedTtft(one.queuedPrefillTokens * consolidation, sequences!, kv!);
    const budget = (TTFT - own) * SENSITIVITY;
    return budget > 0 && after - own < budget;
  });
  return publishedStep(estimates, TTFT, isSafe);
}

/** `_decode_load_decision`. */
function publishedDecodeStep(all: readonly Observed[]): number {
  const consolidation = consolidationOf(all);
  const estimates = all.map((one) => publishedItl(one, one.scheduledDecodeKv, one.queuedDecodeKv));
  const isSafe = all.every((one) => {
    const kv = (one.scheduledDecodeKv + one.queuedDecodeKv) * consolidation;
    const fewer = { ...one, sequences: one.sequences * consolidation };
    return kv < CAPACITY.kvTokens && publishedItl(fewer, kv, 0) < ITL * SENSITIVITY;
  });
  return publishedStep(estimates, ITL, isSafe);
}

describe("Dynamo's load-based planner", () => {
  it('adds a prefill engine when queue and next prompt take longer than the objective', () => {
    // A chunk of one prompt takes 101 ms.
    const after = (waiting: number): string => decided({ engines: '2P', waiting });
    expect([after(4), after(3), after(1)]).toEqual(['3P', '2P', '1P']);
  });

  it('adds a decode engine when a step with one sequence more takes longer', () => {
    // 1 ms, 1 ms a sequence, and 10 ms × KV, of which the new one has the mean.
    const after = (running: number, kv: number): string => decided({ engines: '2D', running, kv });
    expect([after(49, 0), after(48, 0), after(20, 0), after(18, 0)]).toEqual([
      ...['3D', '2D', '2D', '1D'],
    ]);
    expect([after(38, 0.9), after(39, 0.9)]).toEqual(['2D', '3D']);
  });

  /** Engines with these loads, after a scrape with requests in front of all of them. */
  function countsOf(
    role: 'prefill' | 'decode',
    loads: readonly { running: number; waiting: number; kvUsage: number }[],
    inFront: number,
  ): number {
    const policy = buildAutoscaler(parseAutoscaler(`sla-load:ttft=${TTFT}:itl=${ITL}`), {
      capacities: { [role]: CAPACITY },
      random: RandomStream.root(1),
    });
    const engines = `${loads.length}${role === 'prefill' ? 'P' : 'D'}`;
    const shown = { atSeconds: 5, engines, totals: totals() };
    const context = contextOf({ ...shown, queued: { [role]: inFront } });
    const previous = contextOf({ totals: totals(0) }).sample;
    const some = context.sample.engines.map((each, i) => ({ ...each, ...loads[i]! }));
    return policy.decide({ ...context, sample: { ...context.sample, engines: some }, previous })
      .counts[role];
  }

  it('scales prefill as the published formula does, for any queue', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 0, max: 9 }), (inside, inFront) => {
        const loads = inside.map((waiting) => ({ waiting, running: 0, kvUsage: 0 }));
        const observed = inside.map((waiting) => ({
          queuedPrefillTokens: (waiting + inFront / inside.length) * PROMPT,
          sequences: 0,
          scheduledDecodeKv: 0,
          queuedDecodeKv: 0,
          averageDecodeLength: 0,
          prefillTokens: 0,
        }));
        const expected = inside.length + publishedPrefillStep(observed);
        expect(countsOf('prefill', loads, inFront)).toBe(expected);
      }),
    );
  });

  it('scales decode as the published formula does, for any batch, queue and KV', () => {
    const load = fc.record({
      running: fc.integer({ min: 1, max: 60 }),
      waiting: fc.integer({ min: 0, max: 6 }),
      kvUsage: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    });
    fc.assert(
      fc.property(fc.array(load, { minLength: 1, maxLength: 4 }), (loads) => {
        const observed = loads.map(({ running, waiting, kvUsage }) => {
          const scheduledDecodeKv = kvUsage * CAPACITY.kvTokens;
          const averageDecodeLength = scheduledDecodeKv / running;
          return {
            queuedPrefillTokens: 0,
            prefillTokens: 0,
            scheduledDecodeKv,
            averageDecodeLength,
            sequences: running + waiting,
            queuedDecodeKv: waiting * averageDecodeLength,
          };
        });
        expect(countsOf('decode', loads, 0)).toBe(loads.length + publishedDecodeStep(observed));
      }),
    );
  });

  it('keeps two engines whose work one could not do within the objective', () => {
    // Two queued prompts take 303 ms with the next one. In one engine four of them take 505 ms.
    expect(decided({ engines: '2P', waiting: 2 })).toBe('2P');
    expect(decided({ engines: '2P', waiting: 1 })).toBe('1P');
    // 30 sequences take 31 ms; 60 in one engine would take 61 ms.
    expect(decided({ engines: '2D', running: 30, kv: 0 })).toBe('2D');
    expect(decided({ engines: '2D', running: 15, kv: 0 })).toBe('1D');
    // The KV of both does not fit in one.
    expect(decided({ engines: '2D', running: 1, kv: 0.5 })).toBe('2D');
  });

  it('removes one only below the sensitivity', () => {
    const idle = { engines: '3P3D', waiting: 0, running: 0 };
    expect(decided(idle)).toBe('2P2D');
    // A step of one sequence and its KV takes 12.5 ms of 50 ms. An empty queue takes no room.
    expect(decided(idle, ':sensitivity=24')).toBe('2P3D');
    expect(decided(idle, ':sensitivity=26')).toBe('2P2D');
    expect(decided(idle, ':sensitivity=0')).toBe('3P3D');
    // Three prompts before the next one take 300 ms of the 399 ms that its own 101 ms leave.
    const queue = { engines: '3P', waiting: 2 };
    expect(decided(queue, ':sensitivity=75')).toBe('3P');
    expect(decided(queue, ':sensitivity=76')).toBe('2P');
  });

  it('decides nothing before a request has finished, or while an engine of the role starts', () => {
    const busy = { engines: '2P2D', running: 60, waiting: 9 };
    expect(decided(busy)).toBe('3P3D');
    expect(decided({ ...busy, starting: '1D' })).toBe('3P3D');
    const policy = buildAutoscaler(parseAutoscaler('sla-load'), {
      capacities: { prefill: CAPACITY },
      random: RandomStream.root(1),
    });
    const { counts } = policy.decide(contextOf({ ...busy, atSeconds: 5 }));
    expect(counts).toEqual(parseEngines('2P2D'));
  });

  it('adds an aggregated engine by either objective and removes one by both', () => {
    // Prompts beside 20 sequences: 10 tokens a sequence and step, 1 ms each.
    const after = (waiting: number, running: number): string =>
      decided({ engines: '3A', waiting, running });
    expect([after(4, 0), after(0, 24), after(3, 10), after(0, 10)]).toEqual([
      ...['4A', '4A', '3A', '2A'],
    ]);
  });

  it('stays above the throughput-based planner, which has no corrections then', () => {
    // 45 requests/s keep 4.5 prefill engines busy.
    const idle = { engines: '6P6D' };
    expect(decided(idle)).toBe('5P5D');
    const bounded = { ...idle, engines: '5P5D' };
    expect(decided(bounded)).toBe('4P4D');
    expect(decided(bounded, ':throughput=5s')).toMatch(/^5P/);
  });
});
