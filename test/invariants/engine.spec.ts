import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../support/runs';
import { scenarios, type Scenario } from './engine-scenario';
import { EngineWorld, type Pace, type Story } from './engine-world';

const RUNS = runsOf(2_000);

/** Every sequence is computed to its end. */
function calmed(scenario: Scenario): Scenario {
  const visits = scenario.visits.map((visit) => {
    return { ...visit, abortAfterUs: undefined, cacheHitThreshold: 0 };
  });
  return { ...scenario, visits };
}

const CUTS = ['short-leap', 'calm-leap'] as const;

/** One scenario, what ends early in it, and one more way to cut its steps. */
const cases = fc.record({
  drawn: scenarios,
  isCalm: fc.boolean(),
  pace: fc.constantFrom<Pace>(...CUTS, ...CUTS, 'leap'),
});

function run(scenario: Scenario, pace: Pace): { world: EngineWorld; story: Story } {
  const world = new EngineWorld(scenario, pace);
  return { world, story: world.run() };
}

/** INV-8: the origin of each prompt token is counted once, in sequences that end early at most. */
function checkOrigins({ engine }: EngineWorld, { visits }: Scenario, isCalm: boolean): void {
  const { promptTokensComputed, promptTokensCached, promptTokensTransferred } = engine.counters;
  const counted = promptTokensComputed + promptTokensCached + promptTokensTransferred;
  const prompts = visits.reduce((sum, visit) => sum + visit.promptTokens, 0);
  expect(engine.counters.promptTokensLoadedFromHost).toBeLessThanOrEqual(promptTokensCached);
  if (isCalm) expect(counted, 'INV-8').toBe(prompts);
  else expect(counted, 'INV-8').toBeLessThanOrEqual(prompts);
}

describe('an engine under random load', () => {
  // The world itself checks INV-1, INV-2, INV-5, INV-7 and INV-11 at every step.
  it('conserves requests, blocks and prompt tokens, gives each token once, comes to rest, and does so however its steps are cut (INV-1, INV-2, INV-5, INV-7, INV-8, INV-9, INV-10, INV-11)', () => {
    fc.assert(
      fc.property(cases, ({ drawn, isCalm, pace }) => {
        const scenario = isCalm ? calmed(drawn) : drawn;
        const { world, story } = run(scenario, 'leap');
        checkOrigins(world, scenario, isCalm);
        expect(story, 'INV-10: a leap').toEqual(run(scenario, 'single').story);
        const law = pace === 'leap' ? 'INV-9: the same again' : `INV-10: a ${pace}`;
        expect(run(scenario, pace).story, law).toEqual(story);
      }),
      { numRuns: RUNS },
    );
  });
});
