import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../support/runs';
import { scenarios, type Scenario } from './engine-scenario';
import { EngineWorld, type Pace, type StepsTold, type Story } from './engine-world';

const RUNS = runsOf(2_000);

/** Every sequence is computed to its end. */
function calmed(scenario: Scenario): Scenario {
  const visits = scenario.visits.map((visit) => {
    return { ...visit, abortAfterUs: undefined, cacheHitThreshold: 0 };
  });
  return { ...scenario, visits };
}

const BOUNDED = ['short-leap', 'calm-leap'] as const;

/** One scenario, what ends early in it, and one more way to take its steps. */
const cases = fc.record({
  drawn: scenarios,
  isCalm: fc.boolean(),
  pace: fc.constantFrom<Pace>(...BOUNDED, ...BOUNDED, 'leap'),
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

/** INV-10: steps that followed each other by themselves end when single ones do. */
function checkEnds(told: readonly StepsTold[], single: readonly StepsTold[]): void {
  const ends = single.map(({ lastUs }) => lastUs);
  let at = 0;
  const seen = told.map((one) => {
    const [firstUs, secondUs] = ends.slice(at);
    at += one.steps;
    return {
      ...one,
      firstUs,
      secondUs: one.steps > 1 ? secondUs : undefined,
      lastUs: ends[at - 1],
    };
  });
  expect(told, 'INV-10: ends of steps').toEqual(seen);
  expect(at).toBe(ends.length);
}

/** INV-10: and they bring as many tokens. An aborted sequence gets none from then on. */
function checkTokens(told: readonly StepsTold[], single: readonly StepsTold[]): void {
  const each = told.flatMap(({ steps, tokens, laterTokens }) => {
    return [tokens, ...new Array<number | undefined>(steps - 1).fill(laterTokens)];
  });
  expect(each, 'INV-10: tokens of steps').toEqual(single.map(({ tokens }) => tokens));
}

describe('an engine under random load', () => {
  // The world itself checks INV-1, INV-2, INV-5, INV-7 and INV-11 at every step.
  it('conserves requests, blocks and prompt tokens, gives each token once, comes to rest, and has the state of single steps at every instant (INV-1, INV-2, INV-5, INV-7, INV-8, INV-9, INV-10, INV-11)', () => {
    fc.assert(
      fc.property(cases, ({ drawn, isCalm, pace }) => {
        const scenario = isCalm ? calmed(drawn) : drawn;
        const { world, story } = run(scenario, 'leap');
        checkOrigins(world, scenario, isCalm);
        const single = run(scenario, 'single');
        expect(story, 'INV-10: leap').toEqual(single.story);
        checkEnds(world.told, single.world.told);
        if (isCalm) checkTokens(world.told, single.world.told);
        const law = pace === 'leap' ? 'INV-9: the same again' : `INV-10: ${pace}`;
        const again = run(scenario, pace);
        expect(again.story, law).toEqual(story);
        checkEnds(again.world.told, single.world.told);
      }),
      { numRuns: RUNS },
    );
  });
});
