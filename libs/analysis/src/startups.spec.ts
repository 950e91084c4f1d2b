import { describe, expect, it } from 'vitest';
import type { StartupRecord } from './scaling-record';
import { startupSummary } from './startups';

const HOUR_US = 3_600_000_000;

function summaryOf(...startups: StartupRecord[]) {
  return startupSummary({ decisions: 0, events: [], startups });
}

describe('the starts of engines', () => {
  it('have the sum of each cause over all of them, and the seconds of each', () => {
    const common = { engine: 2, role: 'decode' } as const;
    const weights = { cause: 'weights', us: HOUR_US / 2 };
    const fetched = { cause: 'cache', us: HOUR_US / 4 };
    const summary = summaryOf(
      { ...common, atUs: 1_000_000, phases: [weights, fetched] },
      { ...common, atUs: 9_000_000, phases: [weights] },
    );
    expect(summary).toMatchObject({ starts: 2, engine_hours: { weights: 1, cache: 0.25 } });
    expect(summary?.each).toEqual([
      { at_seconds: 1, role: 'decode', engine: 2, seconds: { weights: 1_800, cache: 900 } },
      { at_seconds: 9, role: 'decode', engine: 2, seconds: { weights: 1_800 } },
    ]);
  });

  it('are left out where no cause is known', () => {
    const phases = [{ cause: 'startup', us: 5 }];
    expect(summaryOf({ atUs: 0, engine: 0, role: 'decode', phases })).toBeUndefined();
    expect(summaryOf()).toBeUndefined();
  });
});
