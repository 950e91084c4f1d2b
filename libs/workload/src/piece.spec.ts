import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { pieceOf, WHOLE } from './piece';
import type { Workload } from './workload';
import { WorkloadBuilder } from './workload-builder';

/** Conversations of one to three turns, drawn by the seed; the prompt length is the row. */
function drawn(seed: number, conversations: number): Workload {
  const random = RandomStream.root(seed).stream('conversations');
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  let atUs = 0;
  let row = 0;
  for (let i = 0; i < conversations; i++) {
    atUs += random.integer(1_000_000);
    const turns = 1 + random.integer(3);
    for (let turn = 0; turn < turns; turn++) {
      const own = { promptTokens: row + 1, outputTokens: 1 };
      const when = turn === 0 ? { arrivalUs: atUs } : { arrivalUs: 5, after: row - 1 };
      builder.add({ ...own, ...when });
      row++;
    }
  }
  return builder.build();
}

function promptsOf({ promptTokens }: Workload): number[] {
  return [...promptTokens];
}

describe('a piece of a workload', () => {
  it('is the workload itself when it is whole', () => {
    const workload = drawn(1, 10);
    expect(pieceOf(workload, WHOLE)).toBe(workload);
  });

  it.each([1, 2, 3, 4])('is in one of the windows, for every request (seed %i)', (seed) => {
    const workload = drawn(seed, 100);
    const windows = Array.from({ length: 8 }, (_none, at) => {
      return pieceOf(workload, { kind: 'window', at, of: 8 });
    });
    expect(windows.flatMap(promptsOf)).toEqual(promptsOf(workload));
    for (const { arrivalUs } of windows) expect(arrivalUs[0]).toBe(0);
  });

  it.each([1, 2, 3, 4])('keeps the gaps of a window and the pauses of turns (seed %i)', (seed) => {
    const workload = drawn(seed, 64);
    const window = pieceOf(workload, { kind: 'window', at: 3, of: 8 });
    const begin = promptsOf(workload).indexOf(window.promptTokens[0]!);
    for (let row = 0; row < window.count; row++) {
      const isTurn = window.after[row] !== -1;
      const [own, before] = [window.arrivalUs[row]!, workload.arrivalUs[begin + row]!];
      expect(own).toBe(isTurn ? before : before - workload.arrivalUs[begin]!);
    }
  });

  it.each([1, 2, 3, 4])('samples all parts of the workload alike (seed %i)', (seed) => {
    const workload = drawn(seed, 320);
    const sample = pieceOf(workload, { kind: 'sample', share: 0.25 });
    const firsts = [...sample.after].filter((row) => row === -1).length;
    expect(firsts).toBe(80);
    expect(sample.promptTokens.at(-1)).toBeGreaterThan(workload.count * 0.9);
    const starts = [...sample.arrivalUs].filter((_at, row) => sample.after[row] === -1);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  it('keeps the mean rate of a sample of even arrivals', () => {
    const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
    for (let i = 0; i < 320; i++) {
      builder.add({ arrivalUs: i * 100, promptTokens: 1, outputTokens: 1 });
    }
    const sample = pieceOf(builder.build(), { kind: 'sample', share: 0.5 });
    expect([...sample.arrivalUs]).toEqual(Array.from({ length: 160 }, (_none, i) => i * 100));
  });
});
