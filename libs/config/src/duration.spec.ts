import { parseDuration } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { resolveConfig } from './resolve-config';
import { startupSeconds, startupTimes } from './startup';

describe('a duration', () => {
  it.each([
    ['200ms', 200],
    ['1.5s', 1500],
    ['750us', 0.75],
    ['750µs', 0.75],
    ['250ns', 0.00025],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text, 'ms')).toBe(ms);
  });

  it('may be converted to seconds', () => {
    expect(parseDuration('2m', 's')).toBe(120);
  });

  it.each(['', '5', 'ms', '5 ms', '-5ms', '5x', '5ms!'])('%j is none', (text) => {
    expect(parseDuration(text, 'ms')).toBeUndefined();
  });

  it('or a plain number of milliseconds sets a latency', () => {
    const latency = (given: string) =>
      resolveConfig({ flags: { interTokenLatency: given } }).config.interTokenLatency;
    expect([latency('250us'), latency('12'), latency('0.5')]).toEqual([0.25, 12, 0.5]);
  });

  it('may be given by cause, in any order, and is the sum', () => {
    const configOf = (given: string) => resolveConfig({ flags: { startupDuration: given } }).config;
    const startup = (given: string) => startupSeconds(configOf(given));
    expect(startup('image-pull=20s,weights=1m30s,warm-up=5')).toBe(115);
    expect([startup('weights=500ms'), startup('90'), startup('2m')]).toEqual([0.5, 90, 120]);
    const { startup: phases } = startupTimes(configOf('warm-up=1s,weights=500ms'));
    expect(phases?.alone).toEqual([
      { cause: 'weights', us: 500_000 },
      { cause: 'warm-up', us: 1_000_000 },
    ]);
    expect(startupTimes(configOf('90'))).toEqual({ startupUs: 90_000_000 });
    const causes = 'or times of image-pull, weights, weights-from-peer, warm-up';
    for (const wrong of [
      'fuel=3s',
      'weights=1s,weights=2s',
      'weights',
      'weights=soon',
      'weights=',
    ]) {
      expect(() => startup(wrong), wrong).toThrow(causes);
    }
    expect(() => startup('weights=20h,warm-up=5h')).toThrow('a number from 0 to 86400');
  });

  it('has weights from a peer beside one, and from disk alone; deadlines take the longer', () => {
    const given = { startupDuration: 'weights=30s,weights-from-peer=4s,warm-up=1s' };
    const { config } = resolveConfig({ flags: given });
    const { startup } = startupTimes(config);
    const causes = (phases: readonly { cause: string }[] = []) => phases.map(({ cause }) => cause);
    expect(causes(startup?.alone)).toEqual(['weights', 'warm-up']);
    expect(causes(startup?.besidePeer)).toEqual(['weights-from-peer', 'warm-up']);
    expect(startupSeconds(config)).toBe(31);
  });

  it('is refused like a number when it is out of range or invalid', () => {
    const failure = (given: string) => () => resolveConfig({ flags: { interTokenLatency: given } });
    const expected = 'must be a number from 0 to 3600000, or a time like 200ms';
    expect(failure('2h')).toThrow(`--inter-token-latency ${expected}; '2h' is not.`);
    expect(failure('soon')).toThrow(expected);
  });
});
