import { attainmentOf, sloTest, type RunRecord, type Slo } from '@baton/analysis';
import { simulate } from '@baton/simulation';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { COUNT, POOL, SCENARIO } from '../../test/one-engine';
import { atRate, missesAllowed, runWithin } from './trial';

const SLO = { ttft: 200_000 };
const LAX = { ttft: 2_000_000 };

function share({ log }: RunRecord, slo: Slo = SLO): number {
  return attainmentOf(log, slo).good / log.count;
}

describe('a trial', () => {
  it('keeps or misses the target like the whole run', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 60, noNaN: true }),
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        (rate, part) => {
          const whole = simulate(atRate(SCENARIO, rate));
          const trial = runWithin(atRate(SCENARIO, rate), { slo: SLO, attainment: part });
          expect(trial !== undefined).toBe(share(whole) >= part - 1e-9);
          if (trial !== undefined) expect(trial.log).toEqual(whole.log);
        },
      ),
      { numRuns: runsOf(60) },
    );
  });

  it('also keeps the target of each SLO class, or fails', () => {
    const [rare, usual] = [
      { name: 'rare', weight: 1, priority: 0, ttftUs: 200_000 },
      { name: 'usual', weight: 1, priority: 0 },
    ];
    const of = (row: number) => (row % 10 === 0 ? rare : usual);
    const classed = { ...SCENARIO, sloClasses: { all: [rare, usual], of } };
    const shareOfRare = ({ log }: RunRecord): number => {
      const isGood = sloTest(log, { ttft: rare.ttftUs });
      const rows = Array.from({ length: COUNT / 10 }, (_none, i) => 10 * i);
      return rows.filter(isGood).length / rows.length;
    };
    const kept = [4, 14, 15, 16, 17, 18, 20, 24].map((rate) => {
      const whole = simulate(atRate(classed, rate));
      const trial = runWithin(atRate(classed, rate), { slo: LAX, attainment: 0.8 });
      expect(trial !== undefined).toBe(share(whole, LAX) >= 0.8 && shareOfRare(whole) >= 0.8);
      return [share(whole, LAX) >= 0.8, trial !== undefined];
    });
    expect(kept).toContainEqual([true, true]);
    expect(kept).toContainEqual([true, false]);
  });

  it('finds both ends of the scale', () => {
    expect(share(simulate(atRate(SCENARIO, 1)))).toBe(1);
    expect(runWithin(atRate(SCENARIO, 100), { slo: SLO, attainment: 0.9 })).toBeUndefined();
  });

  it('counts a request that can never fit as a miss', () => {
    const options = { ...POOL.options, maxModelLen: 105 };
    const small = { ...SCENARIO, pools: [{ ...POOL, options }] };
    expect(runWithin(atRate(small, 1), { slo: SLO, attainment: 0.01 })).toBeUndefined();
  });

  it('ends with the request that decides', () => {
    let steps = 0;
    const stepTime = {
      description: 'counted',
      stepUs: () => {
        steps++;
        return 1e6;
      },
    };
    const slow = { ...SCENARIO, pools: [{ ...POOL, options: { ...POOL.options, stepTime } }] };
    runWithin(atRate(slow, 1), { slo: SLO, attainment: 0.95 });
    const stopped = steps;
    simulate(slow);
    expect(stopped * 4).toBeLessThan(steps - stopped);
  });
});

describe('allowed misses', () => {
  it('are the rest of the share, whatever its rounding', () => {
    expect(missesAllowed(0.9, 10)).toBe(1);
    expect(missesAllowed(0.95, 10)).toBe(0);
    expect(missesAllowed(0.7, 10)).toBe(3);
    expect(missesAllowed(1, 10)).toBe(0);
    expect(missesAllowed(0.999, 3_000)).toBe(3);
  });
});
