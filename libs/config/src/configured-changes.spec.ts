import { describe, expect, it } from 'vitest';
import { defaultConfig } from './config';
import { configuredChanges } from './configured-changes';
import { UsageError } from './usage-error';

describe('configuredChanges', () => {
  it('are none unless set', () => {
    expect(configuredChanges(defaultConfig())).toEqual([]);
  });

  it.each([
    ['20:+1D', 'changes: Change "20:+1D" is not understood'],
    ['20s:-2D', 'changes: At 20s this change removes 2 of 2'],
  ])('are refused when they are %s', (changes, sentence) => {
    const config = defaultConfig({ topology: '2P2D', changes });
    expect(() => configuredChanges(config)).toThrow(UsageError);
    expect(() => configuredChanges(config)).toThrow(sentence);
  });
});
