import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Operation, OPERATIONS, play, type Step } from './handoff-operations';
import { runsOf } from '../support/runs';
import { HandoffWorld } from './handoff-world';

const ORDINARY: Operation[] = ['hold', 'accept', 'reserve', 'finish', 'deliver', 'pause'];
const EVERYTHING = Object.keys(OPERATIONS) as Operation[];

/** Half of the steps advance requests. The other half are faults. */
function steps(maxLength: number): fc.Arbitrary<Step[]> {
  const op = fc.oneof(
    { arbitrary: fc.constantFrom<Operation>('deliver', 'reserve', 'finish'), weight: 4 },
    { arbitrary: fc.constantFrom(...ORDINARY), weight: 3 },
    { arbitrary: fc.constantFrom(...EVERYTHING), weight: 3 },
  );
  const step = fc.record({ op, a: fc.nat(1_000), b: fc.nat(1_000) });
  return fc.array(step, { minLength: 10, maxLength, size: 'max' });
}

describe('the hand-over under lost, repeated, late and reordered messages', () => {
  it('INV-3, INV-4, INV-11: ends every holding and every fetch exactly once, frees all blocks and never stalls', () => {
    fc.assert(
      fc.property(steps(120), (scenario) => {
        play(new HandoffWorld(), scenario);
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('reaches every terminal state in the tested scenarios', () => {
    const reached: Record<string, number> = {};
    for (const scenario of fc.sample(steps(120), { numRuns: 400, seed: 1 })) {
      const world = new HandoffWorld();
      play(world, scenario);
      for (const [name, count] of Object.entries(world.terminals())) {
        reached[name] = (reached[name] ?? 0) + count;
      }
    }
    expect(Object.keys(reached)).toHaveLength(13);
    for (const [name, count] of Object.entries(reached)) {
      expect(count, name).toBeGreaterThanOrEqual(1);
    }
  });
});
