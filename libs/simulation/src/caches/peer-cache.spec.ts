import type { RunRecord } from '@baton/analysis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { type TestRequest, poolFor, scenarioWith, workloadOf } from '../../test/test-scenario';
import { simulate } from '../driver';
import type { ClusterScenario } from '../scenario';

const [JOINED_US, STARTUP_US] = [50_000, 30_000];
const CONTENT = [1, 2, 3, 4];
/** One prompt before an engine joins, and one on each engine long after. */
const REQUESTS = [0, 200_000, 200_000].map((atUs) => {
  return { atUs, prompt: 17, output: 2, content: CONTENT };
});

function joining(asked: readonly TestRequest[], fetchesCaches: boolean): ClusterScenario {
  return {
    ...scenarioWith('1A', workloadOf(asked)),
    pools: [{ ...poolFor('aggregated', 1, { maxNumSeqs: 1 }), startupUs: STARTUP_US }],
    changes: [{ atUs: JOINED_US, kind: 'join', pool: 0 }],
    ...(fetchesCaches && { fetchesCaches }),
  };
}

/** By the engine that served it: prompt tokens found. */
function foundOn({ log }: RunRecord, engine: number): number[] {
  const rows = Array.from({ length: log.count }, (_none, row) => row);
  return rows
    .filter((row) => log.prefillEngine[row] === engine)
    .map((row) => log.cachedTokens[row]!);
}

describe('an engine that joins', () => {
  it('finds the prompts of its peer, and nothing without a fetch', () => {
    expect(foundOn(simulate(joining(REQUESTS, false)), 1)).toEqual([0]);
    expect(foundOn(simulate(joining(REQUESTS, true)), 1)).toEqual([16]);
  });

  it('accepts work when it has loaded and the cache has come over its link', () => {
    const burst = Array.from({ length: 40 }, () => ({ atUs: 0, prompt: 17, output: 9 }));
    const asked = [{ ...REQUESTS[0]!, atUs: 0 }, ...burst.map((each) => ({ ...each, atUs: 1 }))];
    const startOf = ({ log }: RunRecord): number => {
      const rows = Array.from({ length: log.count }, (_none, row) => row);
      const mine = rows.filter((row) => log.prefillEngine[row] === 1);
      return Math.min(...mine.map((row) => log.prefillStartUs.at(row)));
    };
    expect(startOf(simulate(joining(asked, false)))).toBe(JOINED_US + STARTUP_US);
    // Four blocks of 4 tokens and 1,000 bytes at 1 GB/s, behind 100 µs.
    expect(startOf(simulate(joining(asked, true)))).toBe(JOINED_US + STARTUP_US + 100 + 16);
  });

  it('also has the blocks that its peer uses at that instant', () => {
    const long = { atUs: 0, prompt: 17, output: 250, content: CONTENT };
    const later = { atUs: 200_000, prompt: 17, output: 2, content: CONTENT };
    expect(foundOn(simulate(joining([long, later, later], true)), 1)).toEqual([16]);
  });

  it('runs the same to the microsecond where nothing is cached', () => {
    const asked = fc.record({
      atUs: fc.integer({ min: 0, max: 150_000 }),
      prompt: fc.integer({ min: 1, max: 60 }),
      output: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 30 }), (some) => {
        const requests = [...some].sort((a, b) => a.atUs - b.atUs);
        expect(simulate(joining(requests, true))).toEqual(simulate(joining(requests, false)));
      }),
      { numRuns: runsOf(30) },
    );
  });
});
