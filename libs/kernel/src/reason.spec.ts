import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasonOf } from './reason';

function failureOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('the reason of a failure', () => {
  it.each<[unknown, string]>([
    [failureOf(() => readFileSync('absent, no file')), 'ENOENT: no such file or directory'],
    [failureOf(() => readFileSync('/')), 'it is a folder'],
    [new Error('Broken at line 2, column 1:\n\na: [1\n^\n'), 'Broken at line 2, column 1'],
    [new Error('first\nsecond'), 'first\nsecond'],
    ['no error', 'no error'],
  ])('%s is %j', (error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });
});
