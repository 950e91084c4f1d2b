import { describe, expect, it } from 'vitest';
import {
  type ComparedStep,
  compareReferenceSteps,
  ERROR_MAX,
} from '../../../../validation/reference/reference-steps';
import { readShipped } from '../../../../test/support/shipped-operators';

/** Steps that no quirk touches. */
const WHOLE = 368;

const steps = compareReferenceSteps(readShipped);

describe('steps composed from operators', () => {
  it('are within 0.5 % of the 624 of AIConfigurator', () => {
    expect(steps).toHaveLength(624);
    const beyond = steps.filter(({ error }) => !(Math.abs(error) <= ERROR_MAX));
    expect(beyond.map((step) => `${titleOf(step)}: ${step.error}`)).toEqual([]);
  });

  it('are compared completely in more than half of them', () => {
    expect(steps.filter(({ quirks }) => quirks.length === 0)).toHaveLength(WHOLE);
  });
});

function titleOf({ row }: ComparedStep): string {
  const { id, system, model, dtype, phase, tp } = row;
  return `${id}: ${phase} of ${model} in ${dtype} on ${system} TP${tp}`;
}
