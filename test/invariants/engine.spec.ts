import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../support/runs';
import { scenarios, type Scenario, type Visit } from './engine-scenario';
import { EngineWorld, type Pace, type Story } from './engine-world';

const RUNS = runsOf(2_000);

const run = (scenario: Scenario, pace: Pace): Story => new EngineWorld(scenario, pace).run();

function withVisits(scenario: Scenario, change: Partial<Visit>): Scenario {
  return { ...scenario, visits: scenario.visits.map((visit) => ({ ...visit, ...change })) };
}

describe('an engine under random load', () => {
  it('conserves requests and blocks, gives each token once, and comes to rest (INV-1, INV-2, INV-5, INV-7, INV-11)', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        run(scenario, 'single');
      }),
      { numRuns: RUNS },
    );
  });

  it('leaps to the facts, instants, counters and cache of its single steps (INV-10)', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        expect(run(scenario, 'leap')).toEqual(run(scenario, 'single'));
      }),
      { numRuns: RUNS },
    );
  });

  it('gives the same result for any cut of its steps (INV-10)', () => {
    fc.assert(
      fc.property(scenarios, fc.constantFrom('short-leap', 'calm-leap'), (scenario, pace) => {
        expect(run(scenario, pace)).toEqual(run(scenario, 'single'));
      }),
      { numRuns: RUNS },
    );
  });

  it('gives the same result for the same scenario (INV-9)', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        expect(run(scenario, 'leap')).toEqual(run(scenario, 'leap'));
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('counts the origin of each prompt token once (INV-8)', () => {
    const calm = scenarios.map((s) =>
      withVisits(s, { abortAfterUs: undefined, cacheHitThreshold: 0 }),
    );
    fc.assert(
      fc.property(calm, (scenario) => {
        const world = new EngineWorld(scenario, 'leap');
        world.run();
        const { counters } = world.engine;
        const { promptTokensComputed, promptTokensCached, promptTokensTransferred } = counters;
        expect(counters.promptTokensLoadedFromHost).toBeLessThanOrEqual(promptTokensCached);
        const prompts = scenario.visits.reduce((sum, visit) => sum + visit.promptTokens, 0);
        expect(promptTokensComputed + promptTokensCached + promptTokensTransferred).toBe(prompts);
      }),
      { numRuns: RUNS },
    );
  });
});
