import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { breakage } from './breakage';
import { chosenFleet } from './choose-fleet';
import { fleetAnswers } from './fleet-answers';
import type { FleetResult, FleetsFound } from './search-fleets';

function resultOf(name: string, usdPerHour: number, rate: number): FleetResult {
  const measured = { rate, completedRate: rate };
  return { fleet: { name, usdPerHour, pools: [], varied: {} }, measured, requests: 1 } as never;
}

/** Names of the fleet to start, of the one that breaks first, and of the answers. */
function namesOf(forLoad: readonly FleetResult[], finalists: readonly FleetResult[], load: number) {
  const chosen = chosenFleet([...forLoad, ...finalists], load);
  const found = { forLoad, finalists, chosen, overload: [] as const } as unknown as FleetsFound;
  const answers = fleetAnswers({ loadRps: load } as never, found);
  return {
    started: chosen?.result.fleet.name ?? null,
    rate: chosen?.rate,
    broken: breakage(found, 0.9)?.fleet ?? null,
    cheapest: answers.cheapest_for_load?.name ?? null,
    most: answers.most_goodput?.name ?? null,
  };
}

describe('the fleet to start', () => {
  it('is a finalist where it serves the load for less than the fleets fitted to it', () => {
    const names = namesOf([resultOf('5P2D', 58, 3.4)], [resultOf('8P1D', 55, 3.7)], 3.4);
    expect(names).toMatchObject({ started: '8P1D', broken: '8P1D', cheapest: '8P1D', rate: 3.4 });
  });

  it('is the one with the most goodput, at its own rate, where none serves the load', () => {
    const names = namesOf([], [resultOf('1P1D', 8, 1), resultOf('2P1D', 12, 2)], 3.4);
    expect(names).toMatchObject({ started: '2P1D', cheapest: null, most: '2P1D', rate: 2 });
  });

  it('is always the fleet in the answer', () => {
    const seed = 11;
    const random = RandomStream.root(seed).stream('fleets');
    const some = (prefix: string): FleetResult[] =>
      Array.from({ length: random.integer(4) }, (_, i) =>
        resultOf(`${prefix}${i}`, 1 + random.integer(9), random.integer(9)),
      );
    for (let run = 0; run < 200; run++) {
      const names = namesOf(some('fitted'), some('finalist'), 1 + random.integer(9));
      expect(names.started, `seed ${seed}, run ${run}`).toBe(names.cheapest ?? names.most);
      expect(names.broken).toBe(names.started);
    }
  });
});
