import { describe, expect, it } from 'vitest';
import { apiProcessesOf } from './count';

const redis = 'redis://127.0.0.1:6379';

describe('the number of API processes', () => {
  it.each([
    ['1', 8, 1],
    ['3', 2, 3],
    ['auto', 1, 1],
    ['auto', 2, 1],
    ['auto', 9, 4],
    ['auto', 1_000, 64],
  ])('%s on %d cores is %d', (apiProcesses, cores, count) => {
    expect(apiProcessesOf({ apiProcesses, redis }, cores)).toBe(count);
  });

  it('is one when a single process has all roles', () => {
    expect(apiProcessesOf({ apiProcesses: 'auto', redis: undefined }, 64)).toBe(1);
  });
});
