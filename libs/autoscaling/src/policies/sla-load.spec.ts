import { RandomStream } from '@baton/kernel';
import { formatTopology } from '@baton/placement';
import { describe, expect, it } from 'vitest';
import { contextOf, type Shown } from '../../test/test-cluster';
import type { ScaleContext } from '../policy';
import { buildAutoscaler } from '../written/build-autoscaler';
import { parseAutoscaler } from '../written/parse-autoscaler';
import { EngineCapacity } from './capacity';
import { LoadLine } from './load-line';

/** 1 ms a step, 0.1 ms a prompt token, 1 ms a decoding sequence. */
const CAPACITY = new EngineCapacity({
  stepTime: {
    description: 'readable',
    stepUs: ({ prefillTokens, decodeSeqs }) => 1_000 + 100 * prefillTokens + 1_000 * decodeSeqs,
  },
  ...{ maxNumBatchedTokens: 1_000, maxNumSeqs: 256, kvTokens: 100_000 },
});
type Totals = NonNullable<Shown['totals']>;
const INTERVAL_SECONDS = 5;
/** Requests of one scrape interval, all with prompts of this many tokens. */
const [REQUESTS, PROMPT] = [225, 1_000];

/** The totals after this many intervals with latencies in ms. */
function totalsOf(latencies: readonly { ttft: number; itl: number }[]): Totals {
  const requests = REQUESTS * latencies.length;
  const sum = (name: 'ttft' | 'itl'): { sumSeconds: number; count: number } => ({
    sumSeconds: latencies.reduce((total, each) => total + (REQUESTS * each[name]) / 1_000, 0),
    count: requests,
  });
  return {
    ...{ arrived: requests, finished: requests },
    ...{ promptTokens: requests * PROMPT, outputTokens: requests * 100 },
    ...{ ttft: sum('ttft'), itl: sum('itl') },
  };
}

type Load = Pick<Shown, 'engines' | 'running' | 'kv' | 'queued' | 'starting' | 'waiting'>;

/**
 * The counts after the last of these loads, with TTFT = 0.1 × (active tokens + isl) + 100 ms and
 * ITL = 50 × KV + 10 ms, the lines of Dynamo's tests (0.5 per block of 100). The objectives are
 * 500 ms and 50 ms, so the targets are 3,000 tokens (4,000 less one prompt) and 0.8 of the KV.
 */
function decided(text: string, ...loads: readonly Load[]): string {
  const policy = buildAutoscaler(parseAutoscaler(`sla-load:ttft=0.5:itl=0.05${text}`), {
    ...{ capacities: { prefill: CAPACITY, decode: CAPACITY } },
    random: RandomStream.root(1),
  });
  const latencies: { ttft: number; itl: number }[] = [];
  let previous: ScaleContext['sample'] = contextOf({ totals: totalsOf([]) }).sample;
  let counts = '';
  for (const load of loads) {
    const { running = 0, waiting = 0, kv = 0, engines = '1P1D' } = load;
    const prompts = waiting + (engines.includes('A') ? 0 : running);
    latencies.push({ ttft: 0.1 * (prompts + 1) * PROMPT + 100, itl: 50 * kv + 10 });
    const atSeconds = INTERVAL_SECONDS * latencies.length;
    const context = contextOf({ ...load, atSeconds, totals: totalsOf(latencies) });
    counts = formatTopology(policy.decide({ ...context, previous }).counts);
    previous = context.sample;
  }
  return counts;
}

/** Five loads between the targets, so that both lines are known. */
const LEARN = [0.5, 0.55, 0.6, 0.65, 0.7].map((kv, i) => ({ running: 2 + i / 10, kv }));
const learnt = (engines: string): Load[] => LEARN.map((load) => ({ ...load, engines }));

describe("Dynamo's load-based planner", () => {
  it('adds an engine when the load of each is above the target', () => {
    expect(decided('', ...learnt('2P3D'), { engines: '2P3D', running: 3.1, kv: 0.81 })).toBe(
      '3P4D',
    );
    expect(decided('', ...learnt('2P3D'), { engines: '2P3D', running: 2.9, kv: 0.79 })).toBe(
      '2P3D',
    );
  });

  it('removes one below target × (n - 1) / n × sensitivity', () => {
    // 3,000 × 2/3 × 0.8 = 1,600 tokens; 0.8 × 2/3 × 0.8 = 0.427 of the KV.
    expect(decided('', ...learnt('3P3D'), { engines: '3P3D', running: 1.5, kv: 0.42 })).toBe(
      '2P2D',
    );
    expect(decided('', ...learnt('3P3D'), { engines: '3P3D', running: 1.7, kv: 0.43 })).toBe(
      '3P3D',
    );
    const all = ':sensitivity=100';
    expect(decided(all, ...learnt('3P3D'), { engines: '3P3D', running: 1.7, kv: 0.5 })).toBe(
      '2P2D',
    );
    const none = ':sensitivity=0';
    expect(decided(none, ...learnt('3P3D'), { engines: '3P3D', running: 0, kv: 0 })).toBe('3P3D');
  });

  it('keeps the engines when only some are above', () => {
    const policy = buildAutoscaler(parseAutoscaler('sla-load:itl=0.05'), {
      ...{ capacities: { decode: CAPACITY }, random: RandomStream.root(1) },
    });
    let previous = contextOf({ totals: totalsOf([]) }).sample;
    const seen: { ttft: number; itl: number }[] = [];
    for (const kv of [0.5, 0.6, 0.7, 0.8, 0.9]) {
      seen.push({ ttft: 1, itl: 50 * kv + 10 });
      const shown = { atSeconds: 5 * seen.length, engines: '1P2D', kv, totals: totalsOf(seen) };
      const context = contextOf(shown);
      const [prefill, one, ...others] = context.sample.engines;
      const engines = [prefill!, { ...one!, kvUsage: kv - 0.2 }, ...others];
      const sample = { ...context.sample, engines };
      expect(policy.decide({ ...context, sample, previous }).counts.decode).toBe(2);
      previous = sample;
    }
  });

  it('decides nothing before the fifth scrape, or while an engine starts', () => {
    const busy = { engines: '2P2D', running: 9, kv: 0.95 };
    expect(decided('', ...learnt('2P2D').slice(0, 3), busy)).toBe('2P2D');
    expect(decided('', ...learnt('2P2D').slice(0, 4), busy)).toBe('3P3D');
    expect(decided('', ...learnt('2P2D'), { ...busy, starting: '1D' })).toBe('3P3D');
  });

  it('counts the requests in front of the engines as theirs', () => {
    const queued = { engines: '2P3D', running: 2, kv: 0.6, queued: { prefill: 4 } };
    expect(decided('', ...learnt('2P3D'), queued)).toBe('3P3D');
  });

  it('adds an aggregated engine by either line and removes one by both', () => {
    const learn = LEARN.map((load) => ({ ...load, engines: '3A', waiting: load.running }));
    const after = (waiting: number, kv: number): string =>
      decided('', ...learn, { engines: '3A', waiting, kv });
    expect([after(3.1, 0.6), after(2, 0.9)]).toEqual(['4A', '4A']);
    expect([after(1, 0.3), after(1, 0.6), after(2, 0.3)]).toEqual(['2A', '3A', '3A']);
  });

  it('stays above the throughput-based planner, which has no corrections then', () => {
    // 45 requests/s keep 4.5 prefill engines busy, and 4.6 decode engines at 50 ms a step: 49
    // sequences are 980 tokens/s. Corrected by the measured 15 ms for expected 2, it were 5.4.
    const idle = Array.from({ length: 2 }, () => ({ engines: '5P5D', running: 0.1, kv: 0.1 }));
    expect(decided('', ...learnt('5P5D'), ...idle)).toBe('4P4D');
    expect(decided(':throughput=10s', ...learnt('5P5D'), ...idle)).toBe('5P5D');
  });
});

describe('the line from load to latency', () => {
  it('is fitted to the last observations only', () => {
    const line = new LoadLine(5);
    line.observe(1, 1_000);
    for (const load of [10, 20, 30, 40, 50]) line.observe(load, 2 * load + 5);
    expect(line.loadAt(85)).toBeCloseTo(40, 9);
    expect(line.loadAt(0)).toBe(0);
  });

  it('gives the lowest load that kept the objective when latency falls with load', () => {
    const line = new LoadLine(10);
    for (const load of [10, 20, 30, 40, 50]) line.observe(load, 100 - load);
    expect(line.loadAt(75)).toBe(30);
    expect(line.loadAt(20)).toBe(10);
  });

  it('is not known before the fifth observation, and has no slope when all loads are one', () => {
    const line = new LoadLine(10);
    for (const latency of [4, 5, 6, 7]) line.observe(3, latency);
    expect(line.loadAt(5)).toBeUndefined();
    line.observe(3, 8);
    expect(line.loadAt(5)).toBe(3);
  });
});
