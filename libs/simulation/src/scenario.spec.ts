import { expect, it } from 'vitest';
import { poolFor } from '../test/test-scenario';
import { enginePool } from './scenario';

it('a pool with a field that nothing reads does not compile', () => {
  const pool = poolFor('aggregated', 1);
  const known = { ...pool, count: 2 };
  expect(enginePool(known)).toBe(known);
  const unknown = { ...pool, lockstepRanks: 2 };
  // @ts-expect-error the field is of an older scenario
  expect(enginePool(unknown)).toBe(unknown);
});
