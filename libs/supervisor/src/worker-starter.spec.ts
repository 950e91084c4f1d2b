import { defaultConfig, UsageError } from '@baton/config';
import { describe, expect, it } from 'vitest';
import type { Machine } from './process-limit';
import type { ProcessSpec } from './supervised-process';
import { WorkerStarter } from './worker-starter';

function starter(size = 5, overrides = {}) {
  const added: ProcessSpec[] = [];
  const dismissed: string[] = [];
  const supervisor = {
    size,
    add: (spec: ProcessSpec) => void added.push(spec),
    dismiss: (name: string) => void dismissed.push(name),
  };
  const engines = { prefill: 2, decode: 2, aggregated: 0 };
  const machine = (): Machine => ({ cores: 4, availableBytes: 2 ** 34 });
  const workers = new WorkerStarter(defaultConfig(overrides), engines, supervisor, machine);
  return { added, dismissed, workers };
}

describe('workers that join', () => {
  it('get their own names', async () => {
    const { added, workers } = starter();
    await workers.start('decode', 2);
    await workers.start('aggregated', 1);
    await workers.start('decode', 1);
    expect(added.map(({ name }) => name)).toEqual([
      ...['decode-2', 'decode-3', 'aggregated-0', 'decode-4'],
    ]);
  });

  it('are refused when the configuration describes an impossible engine', () => {
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

  it('are refused beyond the room of the machine, and none starts', () => {
    const { added, workers } = starter();
    expect(() => workers.startNow('decode', 500)).toThrow('the limit of this machine is 64');
    expect(added).toEqual([]);
    workers.startNow('decode', 59);
    expect(() => starter(5, { maxProcesses: 6 }).workers.startNow('decode', 2)).toThrow(
      'max_processes',
    );
  });

  it('start a few at a time, the next when one is ready or has left', () => {
    const { added, workers } = starter();
    workers.startNow('decode', 6);
    expect(added.length).toBe(4);
    workers.settled('prefill-0');
    expect(added.length).toBe(4);
    workers.settled('decode-3');
    expect(added.map(({ name }) => name).at(-1)).toBe('decode-6');
    for (const { name } of added.slice()) workers.settled(name);
    expect(added.length).toBe(6);
  });

  it('count those that wait', () => {
    const { workers } = starter();
    workers.startNow('decode', 50);
    expect(() => workers.startNow('prefill', 14)).toThrow('the limit of this machine');
  });

  it('are cancelled until they are ready', () => {
    const { added, dismissed, workers } = starter();
    workers.startNow('decode', 6);
    workers.settled('decode-2');
    expect(workers.cancelNow()).toBe(5);
    expect(dismissed).toEqual(['decode-3', 'decode-4', 'decode-5', 'decode-6']);
    expect(workers.cancelNow()).toBe(0);
    workers.startNow('decode', 1);
    expect(added.at(-1)?.name).toBe('decode-8');
  });
});
