import { RandomStream, secondsToUs } from '@baton/kernel';
import { formatTopology } from '../../placement/topology/topology';
import { describe, expect, it } from 'vitest';
import { contextOf, type Shown } from '../../../test/test-cluster';
import { EngineCapacity } from '../policies/capacity';
import { demandCurve } from '../policies/demand';
import { Oracle } from '../policies/oracle';
import { type AutoscalerWorld, buildAutoscaler } from './build-autoscaler';
import { parseAutoscaler, writtenInterval } from './parse-autoscaler';

/** 1 ms a step, 0.1 ms a prompt token, 1 ms a decoding sequence. */
const STEP_TIME = {
  description: 'readable',
  stepUs: ({ prefillTokens, decodeSeqs }: { prefillTokens: number; decodeSeqs: number }) =>
    1_000 + 100 * prefillTokens + 1_000 * decodeSeqs,
};
const CAPACITY = new EngineCapacity({
  stepTime: STEP_TIME,
  maxNumBatchedTokens: 1_000,
  maxNumSeqs: 256,
  kvTokens: 100_000,
});
const WORLD: AutoscalerWorld = {
  capacities: { prefill: CAPACITY, decode: CAPACITY },
  random: RandomStream.root(1),
};

function decided(text: string, shown: Shown, before?: Shown): string {
  const policy = buildAutoscaler(parseAutoscaler(text), WORLD);
  const context = contextOf(shown, { max: '8P16D', ...(before && { before }) });
  return formatTopology(policy.decide(context).counts);
}

const sum = (sumSeconds: number, count: number): { sumSeconds: number; count: number } => ({
  sumSeconds,
  count,
});

/** A minute before the sample, with nothing counted. */
const BEFORE: Shown = { atSeconds: 0 };

describe('built-in autoscalers follow their formulas', () => {
  it.each<[string, string, Shown, string]>([
    [
      'hpa: each role has a separate HPA on the same metric',
      'hpa:ttft=1s',
      { engines: '2P3D', totals: { ttft: sum(20, 10) } },
      '4P6D',
    ],
    [
      'hpa: a metric can scale only one role',
      'hpa:ttft=1s@prefill',
      { engines: '2P3D', totals: { ttft: sum(20, 10) } },
      '4P3D',
    ],
    ['hpa: without measurements nothing changes', 'hpa:ttft=1s', { engines: '2P3D' }, '2P3D'],
    [
      'hpa: the metric with the most replicas decides',
      'hpa:waiting=5+kv=0.5',
      { engines: '2P2D', kv: 0.75, queued: { prefill: 40 } },
      // 0.75 / 0.5 × 2 = 3 by KV; 40 / 5 = 8 by the queue of prefill, of which 4 more at once.
      '6P3D',
    ],
    [
      'hpa: while a metric has no value the others cannot scale down',
      'hpa:ttft=1s+kv=0.5:down-window=0',
      { engines: '4P4D', kv: 0.1 },
      '4P4D',
    ],
    [
      'hpa: engines that start count as missing replicas',
      'hpa:kv=0.4@decode',
      { engines: '1P2D', starting: '2D', kv: 0.9 },
      // 0.9 alone would ask for more; with two at 0 the mean is 0.45, ratio 1.125 of 4.
      '1P5D',
    ],
    [
      'keda: one replica per number of waiting requests',
      'keda:10',
      { queued: { prefill: 42 } },
      '5P1D',
    ],
    [
      'keda: requests that wait in engines count',
      'keda:10',
      { engines: '2P2D', waiting: 15 },
      '3P3D',
    ],
    ['ratio: prefill follows decode', 'ratio:1P2D:kv=0.4', { engines: '2P4D', kv: 0.6 }, '3P6D'],
    [
      'schedule: the last entry of a day holds until the first of the next',
      'schedule:8h=4P8D+20h=1P2D',
      {},
      '1P2D',
    ],
    [
      'schedule: an entry holds from its time on',
      'schedule:8h=4P8D+20h=1P2D',
      { atSeconds: 3_600 * (24 + 9) },
      '4P8D',
    ],
    [
      'wva: one more when the spare KV is below its trigger (llm-d: 0.75 and 0.76 of 0.8)',
      'wva',
      { engines: '1P2D', kv: 0.755 },
      '2P3D',
    ],
    [
      'wva: one more when the spare queue is below its trigger',
      'wva',
      { engines: '1P2D', waiting: 3, kv: 0.5 },
      '2P3D',
    ],
    [
      'wva: one engine fewer when the load fits on the others',
      'wva',
      { engines: '1P3D', kv: 0.4 },
      '1P2D',
    ],
    ['wva: no change when the load would not fit', 'wva', { engines: '1P2D', kv: 0.4 }, '1P2D'],
    [
      'wva: no further engine while one starts',
      'wva',
      { engines: '2P2D', starting: '1D', kv: 0.79 },
      '3P3D',
    ],
    [
      'switch: prefill misses its objective and decode is calm',
      'switch:ttft=1s:itl=50ms',
      { engines: '2P4D', totals: { ttft: sum(30, 10), itl: sum(0.2, 10) } },
      '3P3D',
    ],
    [
      'switch: decode misses its objective and prefill is calm',
      'switch:ttft=1s:itl=50ms',
      { engines: '2P4D', totals: { ttft: sum(1, 10), itl: sum(1, 10) } },
      '1P5D',
    ],
    [
      'switch: both miss theirs, so nothing changes',
      'switch:ttft=1s:itl=50ms',
      { engines: '2P4D', totals: { ttft: sum(30, 10), itl: sum(1, 10) } },
      '2P4D',
    ],
  ])('%s', (_name, text, shown, expected) => {
    expect(decided(text, { atSeconds: 60, ...shown }, BEFORE)).toBe(expected);
  });
});

describe("Dynamo's SLA planner", () => {
  /** 10 requests/s of 1,000 prompt and 100 output tokens for a minute. */
  const totals = { arrived: 600, finished: 600, promptTokens: 600_000, outputTokens: 60_000 };
  const shown: Shown = { atSeconds: 60, engines: '1P1D', totals };

  it('divides the load by the capacity of an engine', () => {
    // A prompt takes 101 ms: 9,901 tokens/s. 49 sequences keep 50 ms: 980 tokens/s.
    expect(decided('sla:itl=50ms', shown, BEFORE)).toBe('2P2D');
  });

  it('needs less prefill when the measured TTFT is below the expected one', () => {
    const fast = { ...shown, totals: { ...totals, ttft: sum(600 * 0.0505, 600) } };
    expect(decided('sla:itl=50ms', fast, BEFORE)).toBe('1P2D');
  });

  it('never counts a queue as work: the correction of prefill is at most 1', () => {
    const queued = { ...shown, totals: { ...totals, ttft: sum(6_000, 600) } };
    expect(decided('sla:itl=50ms', queued, BEFORE)).toBe('2P2D');
  });

  it.each([
    // 49 sequences keep 50 ms: 980 tokens/s.
    ['as expected', 2, 900, '2P1D'],
    // Correction 10, so 4 sequences keep 5 ms: 800 tokens/s.
    ['slower than expected', 20, 900, '2P2D'],
    ['as expected', 2, 985, '2P2D'],
    // Correction 0.5, so 95 sequences, all that the KV holds, keep 100 ms: 990 tokens/s.
    ['faster than expected', 1, 985, '2P1D'],
  ])('corrects the ITL of decode steps that are %s: %d ms', (_name, itlMs, perSecond, counts) => {
    // 10 requests/s of 0.1 s are one at a time, for which a step of 2 ms is expected.
    const measured = { itl: sum((600 * itlMs) / 1_000, 600), e2el: sum(600 * 0.1, 600) };
    const outputTokens = 60 * perSecond;
    const slow = { ...shown, totals: { ...totals, outputTokens, ...measured } };
    expect(decided('sla:itl=50ms', slow, BEFORE)).toBe(counts);
  });

  it('follows a trend with the Kalman predictor, the last load with the constant one', () => {
    const rising = (predictor: string): number[] => {
      const policy = buildAutoscaler(parseAutoscaler(`sla:itl=50ms:predictor=${predictor}`), WORLD);
      let [before, finished] = [contextOf(BEFORE).sample, 0];
      return Array.from({ length: 12 }, (_none, minute) => {
        finished += 600 * (minute + 1);
        const grown = {
          arrived: finished,
          finished,
          promptTokens: finished * 1_000,
          outputTokens: finished * 100,
        };
        const context = contextOf({ atSeconds: 60 * (minute + 1), totals: grown });
        const { counts } = policy.decide({ ...context, previous: before });
        before = context.sample;
        return counts.prefill;
      });
    };
    // The load of minute n is n times 1.01 engines; the trend adds that of one minute more.
    const constant = rising('constant');
    expect(constant.slice(0, 3)).toEqual([2, 3, 4]);
    expect(rising('kalman').slice(6)).toEqual(constant.slice(6).map((engines) => engines + 1));
  });

  it('keeps the counts while nothing has finished', () => {
    expect(decided('sla', { engines: '3P2D' }, BEFORE)).toBe('3P2D');
  });
});

describe('the oracle', () => {
  it('has the engines of the highest demand until the next decision can help', () => {
    const at = [0, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20].map((s) => secondsToUs(s));
    const trace = {
      arrivalUs: at,
      promptTokens: at.map(() => 1_000),
      outputTokens: at.map(() => 10),
    };
    const demand = demandCurve(trace, {
      windowUs: secondsToUs(1),
      capacities: WORLD.capacities,
      itlSeconds: 0.05,
      utilisation: 1,
    });
    const oracle = new Oracle(demand, secondsToUs(10));
    const seen = [0, 5, 10, 15, 20, 25].map(
      (atSeconds) => oracle.decide(contextOf({ atSeconds })).counts.prefill,
    );
    expect(seen).toEqual([1, 0, 2, 2, 2, 0]);
  });

  it('cannot be built without a trace', () => {
    expect(() => buildAutoscaler({ kind: 'oracle', late: 0 }, WORLD)).toThrow(
      'oracle needs a trace',
    );
  });
});

describe('an invalid autoscaler', () => {
  it.each([
    ['speed', 'There is no autoscaler "speed". Use one of hpa, keda'],
    ['hpa', 'There is no metric "" to scale by. Use one of ttft, itl'],
    ['hpa:cpu=3', 'There is no metric "cpu=3"'],
    ['hpa:rps', 'rps needs a target above 0, for example rps=20.'],
    ['hpa:ttft=0', 'ttft needs a target above 0'],
    ['hpa:kv=0.5@router', 'There is no role "router". Use one of prefill'],
    ['hpa:kv=0.5:speed=2', 'hpa has no option speed.'],
    ['hpa:kv=0.5:tolerance=2', 'hpa: tolerance must be a number from 0 to 1; "2" is not.'],
    ['hpa:kv=0.5:up-pods=4', 'hpa: up-pods must be written as 4/15s'],
    ['ratio:4A', 'ratio needs both pools'],
    ['schedule:8h', 'schedule: "8h" must be written as'],
    ['schedule:25h=1P1D', 'schedule: each time must be before the end of the period.'],
    [
      'sla:predictor=oracle',
      'sla: predictor must be constant or kalman or arima; "oracle" is not.',
    ],
    ['oracle:3', 'oracle: "3" must be written as option=value.'],
  ])('%s is refused in one sentence', (text, sentence) => {
    expect(() => parseAutoscaler(text)).toThrow(sentence);
  });

  it('may have its own interval', () => {
    expect(writtenInterval('hpa:kv=0.5:interval=60s:tolerance=0.2')).toBe(60);
    expect(writtenInterval('sla')).toBeUndefined();
    expect(parseAutoscaler('hpa:kv=0.5:interval=60s')).toEqual(parseAutoscaler('hpa:kv=0.5'));
    expect(() => writtenInterval('sla:interval=0')).toThrow('interval must be at least 0.1 s');
  });

  it('uses the objectives of a run as default targets', () => {
    const spec = parseAutoscaler('hpa:ttft+itl', { ttftSeconds: 2, itlSeconds: 0.03 });
    expect(spec).toMatchObject({ metrics: [{ target: 2 }, { target: 0.03 }] });
  });
});
