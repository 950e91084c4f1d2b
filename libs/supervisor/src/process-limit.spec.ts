import { UsageError } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { checkOpenFiles, checkProcesses, thisMachine } from './process-limit';

const GIB = 1024 ** 3;

describe('the limit of processes', () => {
  const fits = (
    running: number,
    more: number,
    { cores = 2, availableBytes = 8 * GIB, maxProcesses = undefined as number | undefined } = {},
  ): boolean => {
    try {
      checkProcesses({ maxProcesses }, { running, more }, { cores, availableBytes });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      return false;
    }
  };

  it('follows the cores and what they already run', () => {
    expect([fits(5, 27), fits(5, 28), fits(32, 1)]).toEqual([true, false, false]);
    expect(fits(5, 500)).toBe(false);
    expect(fits(5, 500, { cores: 64, availableBytes: 64 * GIB })).toBe(true);
  });

  it('follows the memory that is available now', () => {
    expect(fits(5, 16, { availableBytes: GIB })).toBe(true);
    expect(fits(5, 17, { availableBytes: GIB })).toBe(false);
    expect(fits(5, 1, { availableBytes: 0 })).toBe(false);
  });

  it('is max_processes if set', () => {
    const maxProcesses = 100;
    expect(fits(5, 95, { maxProcesses, availableBytes: 0 })).toBe(true);
    expect(fits(5, 96, { maxProcesses, cores: 1_000 })).toBe(false);
  });

  it('is reported in numbers', () => {
    const machine = { cores: 2, availableBytes: 4 * GIB };
    const ask = (maxProcesses?: number) => () =>
      checkProcesses({ maxProcesses }, { running: 5, more: 500 }, machine);
    expect(ask()).toThrow(
      '500 more processes would make 505; the limit of this machine is 32 (2 cores and 4096 MiB ' +
        'of available memory; max_processes sets another limit).',
    );
    expect(ask(40)).toThrow('the limit of this machine is 40 (max_processes).');
  });

  it('reads the machine that it runs on', () => {
    const { cores, availableBytes } = thisMachine();
    expect(cores).toBeGreaterThanOrEqual(1);
    expect(availableBytes).toBeGreaterThan(0);
  });
});

describe('the limit of open files', () => {
  it('is named when a cluster cannot start within it', () => {
    expect(() => checkOpenFiles(20)).toThrow('may open 20 files (ulimit -n); a cluster needs 256');
    expect(() => checkOpenFiles(256)).not.toThrow();
    expect(() => checkOpenFiles()).not.toThrow();
  });
});
