import { NoAnswer } from '../placement/guarded';
import { describe, expect, it } from 'vitest';
import { liveWatch, runBounded } from './policy-calls';

const call = liveWatch(() => undefined).call!;

/** Ways of a policy not to return, and of its code to resist an end. */
const SILENT: Readonly<Record<string, () => unknown>> = {
  'a loop': () => {
    for (;;);
  },
  'a callback of a built-in function': () =>
    [2, 1].sort(() => {
      for (;;);
    }),
  'a loop that catches': () => {
    for (;;) {
      try {
        for (;;);
      } catch {
        // Code that is ended does not come here.
      }
    }
  },
  'a loop with a finally that loops': () => {
    try {
      for (;;);
    } finally {
      for (;;);
    }
  },
  'a generator': () => {
    function* numbers(): Generator<number> {
      for (;;) yield 1;
    }
    return [...numbers()].length;
  },
  'a regular expression': () => /^(a+)+$/.test(`${'a'.repeat(60)}b`),
};

describe('a call of a policy', () => {
  it('returns the answer, and throws what the policy throws', () => {
    const answer = { engine: 1 };
    expect(call(() => answer)).toBe(answer);
    expect(call(() => undefined)).toBe(undefined);
    const error = new Error('no');
    expect(() =>
      call(() => {
        throw error;
      }),
    ).toThrow(error);
  });

  it.each(Object.keys(SILENT))('is ended in %s, and the next call is answered', (kind) => {
    expect(() => call(SILENT[kind]!)).toThrow(NoAnswer);
    expect(call(() => 7)).toBe(7);
  });

  it('leaves the promises of its process as they were', async () => {
    const before = Promise.resolve('kept');
    const after = before.then((value) => `${value} on`);
    expect(() => call(SILENT['a loop']!)).toThrow(NoAnswer);
    expect(await after).toBe('kept on');
  });
});

describe('a run with policies', () => {
  it('goes on after a call that does not return, with the same result for the same run', () => {
    const run = (): unknown =>
      runBounded((ask) => {
        const answers: unknown[] = [];
        for (let i = 0; i < 4; i++) {
          try {
            answers.push(ask(() => (i === 2 ? SILENT['a loop']!() : i)));
          } catch (error) {
            answers.push((error as NoAnswer).afterMs);
          }
        }
        return answers;
      });
    expect(run()).toEqual([0, 1, 1_000, 3]);
    expect(run()).toEqual(run());
  });
});
