import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { logOf } from '../../test/test-log';
import { IntervalHistogram } from '../interval-histogram';
import type { RequestLog } from '../request-log';
import type { RunRecord } from '../run-record';
import { type Slo } from '../slo';
import { summarise, type Summary } from '../summary';
import type { ModelErrors } from './figure-intervals';
import type { Interval } from './interval';
import { thinned } from './thinned';

const SECOND = 1_000_000;
const SLO: Slo = { ttft: 250_000, tpot: 40_000 };
const ERRORS: ModelErrors = {
  ttft: { low: 0.9, high: 2 },
  tpot: { low: 0.8, high: 1.25 },
  e2el: { low: 0.85, high: 1.3 },
  apart: 1.1,
  source: 'made up',
};

/**
 * Requests at 10 per second with TTFTs of 100 ms and more (the exponential part has mean 100 ms)
 * and gaps around 30 ms. Neighbours share their TTFT in groups of `alike`.
 */
function madeUpLog(requests: number, seed: number, alike = 1): RequestLog {
  const random = RandomStream.root(seed).stream('requests');
  let [nowUs, extraUs] = [0, 0];
  const rows = Array.from({ length: requests }, (_none, row) => {
    nowUs += Math.round(random.exponential(100_000));
    if (row % alike === 0) extraUs = Math.round(random.exponential(100_000));
    const tokens = 2 + random.integer(40);
    const firstTokenUs = nowUs + 100_000 + extraUs;
    const finishUs = firstTokenUs + tokens * (20_000 + random.integer(20_000));
    const prompt = { promptTokens: 100, cachedTokens: random.integer(60) };
    return { arrivalUs: nowUs, prefillStartUs: nowUs, firstTokenUs, finishUs, tokens, ...prompt };
  });
  return logOf(rows);
}

function runOf(log: RequestLog): RunRecord {
  const itl = new IntervalHistogram();
  let endUs = 1;
  for (let row = 0; row < log.count; row++) {
    const gaps = log.emittedTokens[row]! - 1;
    itl.add((log.finishUs.at(row) - log.firstTokenUs.at(row)) / gaps, gaps);
    endUs = Math.max(endUs, log.finishUs.at(row));
  }
  const empty = new Float32Array(0);
  const gauges = {
    running: empty,
    waiting: empty,
    fetching: empty,
    kvUsage: empty,
    heldBlocks: empty,
  };
  const series = { startUs: 0, intervalUs: SECOND, samples: 0, ...gauges };
  return { log, engines: [], lives: [], itl, series, endUs, steps: 1, events: 1 };
}

function summaryOf(log: RequestLog, errors?: ModelErrors, isClosedLoop = false): Summary {
  const asked = errors === undefined ? {} : { errorsAt: () => errors };
  return summarise(runOf(log), {
    slo: SLO,
    gpus: 4,
    wallSeconds: 1,
    seed: 1,
    isClosedLoop,
    ...asked,
  });
}

const LATENCIES = ['ttft_ms', 'tpot_ms', 'itl_ms', 'e2el_ms'] as const;
const STATISTICS = ['mean', 'p50', 'p90', 'p95', 'p99', 'max'] as const;
const PHASES = ['prefill', 'decode'] as const;
const PLAIN = [
  ...(['slo_attainment', 'goodput_rps', 'goodput_rps_per_gpu', 'prefix_hit_rate'] as const),
  ...(['request_rps', 'output_tokens_per_second', 'total_tokens_per_second'] as const),
];

/** Every figure that has an interval, beside the interval. */
function pairs(summary: Summary): [name: string, figure: number, interval: Interval][] {
  const { intervals } = summary;
  return [
    ...LATENCIES.flatMap((latency) =>
      STATISTICS.map((name) => [
        `${latency}.${name}`,
        summary[latency][name],
        intervals[latency][name],
      ]),
    ),
    ...PLAIN.map((name) => [name, summary[name], intervals[name]]),
    ...PHASES.map((name) => [name, summary.phase_means_ms[name], intervals.phase_means_ms[name]]),
  ] as [string, number, Interval][];
}

function widthOf([low, high]: Interval): number {
  return Math.log(high / low);
}

describe('intervals of a summary', () => {
  it.each([1, 2, 3, 10, 100, 1_000])('contain their figures, of %i requests', (requests) => {
    for (const errors of [undefined, ERRORS]) {
      for (const [name, figure, [low, high]] of pairs(summaryOf(madeUpLog(requests, 7), errors))) {
        expect(low, name).toBeLessThanOrEqual(figure);
        expect(high, name).toBeGreaterThanOrEqual(figure);
      }
    }
  });

  it('are equal for equal runs', () => {
    const text = (): string => JSON.stringify(summaryOf(madeUpLog(500, 3), ERRORS));
    expect(text()).toBe(text());
  });

  it('become narrower with more requests', () => {
    const few = pairs(summaryOf(madeUpLog(200, 5)));
    const many = pairs(summaryOf(madeUpLog(20_000, 5)));
    few.forEach(([name, , interval], i) => {
      // More values do not narrow the interval of the largest one.
      if (!name.endsWith('.max'))
        expect(widthOf(many[i]![2]), name).toBeLessThan(widthOf(interval));
    });
  });

  it('are wider where neighbours are similar', () => {
    const alone = summaryOf(madeUpLog(2_000, 5, 1)).intervals.ttft_ms;
    const alike = summaryOf(madeUpLog(2_000, 5, 50)).intervals.ttft_ms;
    expect(widthOf(alike.p50!)).toBeGreaterThan(2 * widthOf(alone.p50!));
    expect(widthOf(alike.mean!)).toBeGreaterThan(2 * widthOf(alone.mean!));
  });

  it('are those of the model where the sample is large', () => {
    const { intervals, ttft_ms, tpot_ms } = summaryOf(madeUpLog(50_000, 5), ERRORS);
    const [ttftLow, ttftHigh] = intervals.ttft_ms.p50!.map((each) => each / ttft_ms.p50!);
    expect([ttftLow, ttftHigh]).toEqual([expect.closeTo(0.9, 1), expect.closeTo(2, 1)]);
    const [tpotLow, tpotHigh] = intervals.tpot_ms.mean!.map((each) => each / tpot_ms.mean!);
    expect([tpotLow, tpotHigh]).toEqual([expect.closeTo(0.8, 2), expect.closeTo(1.25, 2)]);
    expect(intervals.model).toEqual(ERRORS);
  });

  it('widen a rate with the steps in a closed loop, and little where arrivals are given', () => {
    const log = madeUpLog(20_000, 5);
    const given = summaryOf(log, ERRORS);
    const closed = summaryOf(log, ERRORS, true);
    expect(widthOf(given.intervals.request_rps!)).toBeLessThan(0.05);
    expect(closed.intervals.request_rps![0] / closed.request_rps!).toBeCloseTo(1 / 1.3, 2);
    expect(closed.intervals.request_rps![1] / closed.request_rps!).toBeCloseTo(1 / 0.85, 2);
  });

  it('widen attainment as far as slower steps lower it', () => {
    const { intervals, slo_attainment } = summaryOf(madeUpLog(20_000, 5), ERRORS);
    const slow = summarise(runOf(madeUpLog(20_000, 5)), {
      slo: { ttft: 250_000 / 2, tpot: 40_000 / 1.25 },
      wallSeconds: 1,
      seed: 1,
    });
    expect(intervals.slo_attainment![0]).toBeCloseTo(slow.slo_attainment!, 2);
    expect(intervals.slo_attainment![1]).toBeGreaterThan(slo_attainment!);
  });

  it('of a long run contain its figures, and use a part of its rows', () => {
    const log = madeUpLog(300_000, 5);
    expect(thinned(log).count).toBe(100_000);
    for (const [name, figure, [low, high]] of pairs(summaryOf(log))) {
      expect(low, name).toBeLessThanOrEqual(figure);
      expect(high, name).toBeGreaterThanOrEqual(figure);
    }
    expect(thinned(logOf([{ tokens: 3 }, { tokens: 4 }, { tokens: 5 }]), 2).emittedTokens).toEqual(
      Int32Array.of(3, 5),
    );
  });

  it('are null without measurements', () => {
    const { intervals } = summaryOf(logOf([{ outcome: 'rejected' }]));
    expect(intervals.ttft_ms.p50).toBeNull();
    expect(intervals.prefix_hit_rate).toBeNull();
    expect(summarise(runOf(logOf([])), { wallSeconds: 1, seed: 1 }).intervals).toMatchObject({
      slo_attainment: null,
      goodput_rps: null,
      slo_attainment_by_objective: {},
    });
  });
});

describe('80 % intervals of samples', () => {
  const SAMPLES = 300;
  const TRUTH = summaryOf(madeUpLog(400_000, 99));
  /** For each sample, the number of equal neighbours. */
  const INTERVALS = new Map([1, 10].map((alike) => [alike, intervalsOfSamples(alike)]));

  function intervalsOfSamples(alike: number): Summary['intervals'][] {
    return Array.from({ length: SAMPLES }, (_none, seed) => {
      return summaryOf(madeUpLog(600, seed, alike)).intervals;
    });
  }

  it.each([
    ['p50', 1],
    ['p90', 1],
    ['p99', 1],
    ['mean', 1],
    ['mean', 10],
    ['p50', 10],
  ] as const)(
    'contain the true TTFT %s in seven to nine of ten runs, %i equal neighbours',
    (name, alike) => {
      const truth = TRUTH.ttft_ms[name]!;
      let held = 0;
      for (const { ttft_ms } of INTERVALS.get(alike)!) {
        const [low, high] = ttft_ms[name]!;
        if (low <= truth && truth <= high) held++;
      }
      expect(held / SAMPLES).toBeGreaterThan(0.7);
      expect(held / SAMPLES).toBeLessThan(0.9);
    },
  );

  it('contain the rate of arrivals and the true attainment as often', () => {
    let [rate, attained] = [0, 0];
    for (const intervals of INTERVALS.get(1)!) {
      if (intervals.request_rps![0] <= 10 && 10 <= intervals.request_rps![1]) rate++;
      const [low, high] = intervals.slo_attainment!;
      if (low <= TRUTH.slo_attainment! && TRUTH.slo_attainment! <= high) attained++;
    }
    for (const held of [rate, attained]) {
      expect(held / SAMPLES).toBeGreaterThan(0.7);
      expect(held / SAMPLES).toBeLessThan(0.9);
    }
  });
});
