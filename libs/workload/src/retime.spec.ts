import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meanRatePerSecond, type Workload } from './workload';
import { fromZero, scaleRate, spreadStamps, withArrivals } from './retime';
import { WorkloadBuilder } from './workload-builder';

function arrivingAt(stamps: readonly number[]): Workload {
  const builder = new WorkloadBuilder();
  stamps.forEach((arrivalUs) => builder.add({ arrivalUs, promptTokens: 1, outputTokens: 1 }));
  return builder.build();
}

const arrivals = (workload: Workload): number[] => Array.from(workload.arrivalUs);
const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
const stampLists = fc.array(
  fc.nat(40).map((n) => n * 3_000_000),
  { minLength: 1 },
);

describe('scaleRate', () => {
  it('multiplies the rate and does not change the given workload', () => {
    const workload = arrivingAt([0, 1_000_000, 3_000_000]);
    expect(arrivals(scaleRate(workload, 2))).toEqual([0, 500_000, 1_500_000]);
    expect(meanRatePerSecond(scaleRate(workload, 2))).toBeCloseTo(4 / 3);
    expect(arrivals(workload)).toEqual([0, 1_000_000, 3_000_000]);
    expect(scaleRate(workload, 1)).toBe(workload);
  });

  it('does not change think times', () => {
    const builder = new WorkloadBuilder();
    builder.add({ arrivalUs: 100, promptTokens: 1, outputTokens: 1 });
    builder.add({ arrivalUs: 40, promptTokens: 1, outputTokens: 1, after: 0 });
    expect(arrivals(scaleRate(builder.build(), 4))).toEqual([25, 40]);
  });

  it.each([0, -1, NaN, Infinity])('refuses the factor %d', (factor) => {
    expect(() => scaleRate(arrivingAt([1]), factor)).toThrow(/factor/);
  });
});

describe('workloads with other arrivals', () => {
  it('start at zero, and have the given instants', () => {
    expect(arrivals(fromZero(arrivingAt([7, 9])))).toEqual([0, 2]);
    expect(arrivals(fromZero(arrivingAt([])))).toEqual([]);
    expect(arrivals(withArrivals(arrivingAt([7, 9]), Float64Array.of(1, 5)))).toEqual([1, 5]);
    expect(() => withArrivals(arrivingAt([7]), Float64Array.of(1, 5))).toThrow(/one arrival/);
  });
});

describe('spreadStamps', () => {
  it('places equal stamps evenly over their tick', () => {
    const workload = arrivingAt([0, 0, 0, 3_000_000, 6_000_000, 6_000_000]);
    expect(arrivals(spreadStamps(workload))).toEqual([
      0, 1_000_000, 2_000_000, 3_000_000, 6_000_000, 7_500_000,
    ]);
  });

  it('keeps each request within the tick of its stamp, in order, evenly or at random', () => {
    fc.assert(
      fc.property(stampLists, fc.nat(), fc.boolean(), (stamps, seed, isRandom) => {
        const random = isRandom ? RandomStream.root(seed) : undefined;
        const workload = arrivingAt(stamps);
        const spread = arrivals(spreadStamps(workload, { quantumUs: 3_000_000, random }));
        expect(spread).toEqual(sorted(spread));
        spread.forEach((at, row) => {
          const stamp = workload.arrivalUs[row]!;
          expect(Math.floor(at / 3_000_000) * 3_000_000).toBe(stamp);
        });
      }),
    );
  });

  it('does not change workloads without equal stamps, or with a single stamp', () => {
    expect(arrivals(spreadStamps(arrivingAt([1, 5, 9])))).toEqual([1, 5, 9]);
    expect(arrivals(spreadStamps(arrivingAt([4, 4])))).toEqual([4, 4]);
    expect(arrivals(spreadStamps(arrivingAt([])))).toEqual([]);
  });
});
