import { describe, expect, it } from 'vitest';
import { readLiveFlags } from './live-flags';

describe('flags of calibrate --live', () => {
  it.each([
    [{ promptLengths: '12,x' }, /^--prompt-lengths must be a list of up to 64 whole numbers/],
    [{ loadInputLen: '9:3' }, /^--load-input-len must be one or two whole numbers/],
    [{ loadRate: '2', loadClients: '3' }, '--load-rate and --load-clients exclude each other.'],
    [{ maxError: '-1' }, '--max-error must be a number above 0'],
    [{ baseUrl: 'ftp://x' }, /^--base-url must be an http or https URL/],
  ])('refuse %j', (flags, message) => {
    expect(() => readLiveFlags(flags)).toThrow(message);
  });

  it('have a smaller grid with --quick, unless lists are set', () => {
    const { promptLengths, batches, rounds } = readLiveFlags({ quick: true, decodeBatches: '3,1' });
    expect([promptLengths, batches, rounds]).toEqual([[32, 128, 384], [1, 3], 3]);
  });
});
