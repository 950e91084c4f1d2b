import { describe, expect, it } from 'vitest';
import { defaultConfig } from './config';
import { shownConfig } from './shown-config';

describe('the configuration in a result', () => {
  it('has the options that are set, and no password of a broker', () => {
    const shown = shownConfig(defaultConfig({ redis: 'redis://:secret@host:6379', seed: 7 }));
    expect(shown['seed']).toBe(7);
    expect(JSON.stringify(shown)).not.toContain('secret');
  });
});
