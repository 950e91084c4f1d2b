import { RandomStream } from '@baton/kernel';
import { formatTopology, parseEngines } from '@baton/placement';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf, type Shown } from '../../test/test-cluster';
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
  ...{ maxNumBatchedTokens: 1_000, maxNumSeqs: 256, kvTokens: 1_000 },
});
/** Requests of one scrape interval of 5 s, and the mean lengths of those that have finished. */
const [REQUESTS, PROMPT, OUTPUT] = [225, 1_000, 100];

function totals(requests = REQUESTS): NonNullable<Shown['totals']> {
  return {
    ...{ arrived: requests, finished: requests },
    ...{ promptTokens: requests * PROMPT, outputTokens: requests * OUTPUT },
  };
}

type Load = Pick<Shown, 'engines' | 'running' | 'kv' | 'queued' | 'starting' | 'waiting'>;

/** The counts after one scrape with this load; the objectives are 500 ms and 50 ms. */
function decided(load: Load, text = ''): string {
  const policy = buildAutoscaler(parseAutoscaler(`sla-load:ttft=0.5:itl=0.05${text}`), {
    ...{ capacities: { prefill: CAPACITY, decode: CAPACITY, aggregated: CAPACITY } },
    random: RandomStream.root(1),
  });
  const context = contextOf({ ...load, atSeconds: 5, totals: totals() });
  const previous = contextOf({ totals: totals(0) }).sample;
  return formatTopology(policy.decide({ ...context, previous }).counts);
}

/** Seconds of `estimate_next_ttft` in perf_model/agg.py of Dynamo, chunk by chunk. */
function publishedTtft(queuedTokens: number, decodeSeqs: number, decodeKv: number): number {
  let seconds = 0;
  for (let left = queuedTokens + PROMPT; left > 0; left -= 1_000) {
    const chunk = Math.min(left, 1_000);
    seconds += 1e-3 + 1e-4 * chunk + 1e-3 * decodeSeqs + 1e-5 * decodeKv;
  }
  return seconds;
}

/** `_scale_decision` in load_scaling.py. */
function publishedCount(estimates: readonly number[], objective: number): number {
  const workers = estimates.length;
  if (estimates.every((each) => each > objective)) return workers + 1;
  const isIdle = workers > 1 && estimates.every((each) => each < objective * 0.8);
  return isIdle ? workers - 1 : workers;
}

describe("Dynamo's load-based planner", () => {
  it('adds a prefill engine when queue and next prompt take longer than the objective', () => {
    // A chunk of one prompt takes 101 ms.
    const after = (waiting: number): string => decided({ engines: '2P', waiting });
    expect([after(4), after(3), after(2)]).toEqual(['3P', '2P', '1P']);
  });

  it('adds a decode engine when a step with one sequence more takes longer', () => {
    // 1 ms, 1 ms a sequence, and 10 ms × KV, of which the new one has the mean.
    const after = (running: number, kv: number): string => decided({ engines: '2D', running, kv });
    expect([after(49, 0), after(48, 0), after(39, 0), after(37, 0)]).toEqual([
      ...['3D', '2D', '2D', '1D'],
    ]);
    expect([after(38, 0.9), after(39, 0.9)]).toEqual(['2D', '3D']);
  });

  it('estimates the next prompt as the published formula does, for any queue', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 4 });
    const policy = (): ReturnType<typeof buildAutoscaler> =>
      buildAutoscaler(parseAutoscaler('sla-load:ttft=0.5'), {
        ...{ capacities: { prefill: CAPACITY }, random: RandomStream.root(1) },
      });
    fc.assert(
      fc.property(waits, fc.integer({ min: 0, max: 9 }), (inside, inFront) => {
        const shown = { atSeconds: 5, engines: `${inside.length}P`, totals: totals() };
        const context = contextOf({ ...shown, queued: { prefill: inFront } });
        const engines = context.sample.engines.map((each, i) => ({ ...each, waiting: inside[i]! }));
        const previous = contextOf({ totals: totals(0) }).sample;
        const sample = { ...context.sample, engines };
        const { counts } = policy().decide({ ...context, sample, previous });
        const share = inFront / inside.length;
        const estimates = inside.map((waiting) => publishedTtft((waiting + share) * PROMPT, 0, 0));
        const expected = publishedCount(estimates, 0.5);
        expect(counts.prefill).toBe(expected);
      }),
    );
  });

  it('removes one only below the sensitivity', () => {
    const idle = { engines: '3P3D', waiting: 0, running: 0 };
    expect(decided(idle)).toBe('2P2D');
    // 101 ms and 2 ms, with the KV of the new request 12.5 ms, of 500 ms and 50 ms.
    expect(decided(idle, ':sensitivity=21')).toBe('2P3D');
    expect(decided(idle, ':sensitivity=20')).toBe('3P3D');
    expect(decided(idle, ':sensitivity=26')).toBe('2P2D');
  });

  it('decides nothing before a request has finished, or while an engine of the role starts', () => {
    const busy = { engines: '2P2D', running: 60, waiting: 9 };
    expect(decided(busy)).toBe('3P3D');
    expect(decided({ ...busy, starting: '1D' })).toBe('3P3D');
    const policy = buildAutoscaler(parseAutoscaler('sla-load'), {
      ...{ capacities: { prefill: CAPACITY }, random: RandomStream.root(1) },
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
