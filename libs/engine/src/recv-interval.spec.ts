import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

/** The step, from 0, that admits `new` when it is submitted before step `at`. */
function admittedIn(schedulerRecvInterval: number, at: number, others = {}): number {
  const test = new TestEngine({ schedulerRecvInterval, ...others });
  test.submit('old', { outputTokens: 60 });
  for (let step = 0; ; step++) {
    if (step === at) test.submit('new');
    if (test.step()!.scheduled.includes('new')) return step;
  }
}

describe('scheduler_recv_interval', () => {
  it('is the interval at which a decoding engine looks for new sequences', () => {
    // Step 0 computes the prompt: the engine looks after it, and every fourth step from there.
    const steps = [1, 2, 3, 4, 5, 6, 9, 10].map((at) => admittedIn(4, at));
    expect(steps).toEqual([1, 5, 5, 5, 5, 9, 9, 13]);
  });

  it('of 1 keeps no sequence waiting', () => {
    expect([1, 2, 7].map((at) => admittedIn(1, at))).toEqual([1, 2, 7]);
  });

  it('counts as long when prompts are computed in steps of their own', () => {
    const steps = [1, 2, 5, 6, 9].map((at) => admittedIn(4, at, { promptsFirst: true }));
    expect(steps).toEqual([1, 5, 5, 9, 9]);
  });

  it('keeps a sequence waiting for less than the interval, ahead of a step or not', () => {
    const [interval, at] = [fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 30 })];
    const modes = fc.record({ asyncScheduling: fc.boolean(), promptsFirst: fc.boolean() });
    fc.assert(
      fc.property(interval, at, modes, (every, step, others) => {
        const late = admittedIn(every, step, others) - admittedIn(1, step, others);
        expect(late).toBeGreaterThanOrEqual(0);
        expect(late).toBeLessThan(every);
      }),
      { numRuns: 40 },
    );
  });

  it('does not delay an idle engine', () => {
    const test = new TestEngine({ schedulerRecvInterval: 10 });
    test.submit('first', { outputTokens: 3 });
    test.runToRest();
    test.submit('second');
    expect(test.step()!.scheduled).toEqual(['second']);
  });

  it('does not delay KV that has arrived', () => {
    const test = new TestEngine({ schedulerRecvInterval: 4 });
    test.submit('old', { outputTokens: 60 });
    test.step();
    test.submit('new', { mode: 'remote-prefill', remoteTokens: 8 });
    expect(test.reserve()).toBe('new lacks 8');
    test.endStep();
    test.engine.kvArrived(test.handle('new'));
    expect(test.step()!.scheduled).toEqual(['new']);
  });

  it('ends leaps while a sequence waits, so that no turn is missed', () => {
    const test = new TestEngine({ schedulerRecvInterval: 4 });
    test.submit('old', { outputTokens: 60 });
    test.step();
    test.step();
    test.submit('new');
    const lengths = [1, 2, 3].map(() => test.step(Infinity)!.steps);
    expect(lengths).toEqual([1, 1, 1]);
    expect(test.step(Infinity)!.scheduled).toEqual(['new']);
  });
});
