import { defaultConfig, UsageError } from '@baton/config';
import { describe, expect, it } from 'vitest';
import type { ProcessSpec } from './supervised-process';
import { WorkerStarter } from './worker-starter';

function starter(size = 5, overrides = {}) {
  const added: ProcessSpec[] = [];
  const supervisor = { size, add: (spec: ProcessSpec) => void added.push(spec) };
  const engines = { prefill: 2, decode: 2, aggregated: 0 };
  return { added, workers: new WorkerStarter(defaultConfig(overrides), engines, supervisor) };
}

describe('workers that join', () => {
  it('get names of their own', async () => {
    const { added, workers } = starter();
    await workers.start('decode', 2);
    await workers.start('aggregated', 1);
    await workers.start('decode', 1);
    expect(added.map(({ name }) => name)).toEqual([
      ...['decode-2', 'decode-3', 'aggregated-0', 'decode-4'],
    ]);
  });

  it('are refused when the configuration describes none that can be', () => {
    const { added, workers } = starter(5, {
      maxNumBatchedTokens: 8_192,
      decodeMaxNumSeqs: 9_000,
    });
    expect(() => workers.startNow('decode', 1)).toThrow(UsageError);
    expect(added).toEqual([]);
  });

  it('are refused beyond the bound of a cluster', () => {
    expect(() => starter(4_096).workers.startNow('decode', 1)).toThrow('at most 4096 processes');
  });
});
