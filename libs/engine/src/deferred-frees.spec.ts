import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const LENGTH = { endReason: 'length' } as const;

/** An engine that sends or receives KV, with batches formed ahead. */
function withConnector(options: ConstructorParameters<typeof TestEngine>[0] = {}): TestEngine {
  return new TestEngine({ asyncScheduling: true, hasConnector: true, ...options });
}

function free(test: TestEngine): number {
  return test.engine.snapshot().freeBlocks;
}

/** The sequences that get tokens in each of the next four steps, and those that are preempted. */
function takenFrom(test: TestEngine): string[] {
  return [1, 2, 3, 4].map(() => {
    const { emitted, preempted } = test.step()!;
    return [emitted.join(' '), ...preempted.map((name) => `${name} preempted`)].join(', ');
  });
}

describe('blocks that the batch in flight writes to', () => {
  it('are free one step after a sequence that stops', () => {
    const test = withConnector();
    test.submit('a', { outputTokens: 2 });
    test.step();
    expect(test.step()).toMatchObject({ finished: ['a'] });
    const { running, leaving } = test.engine.snapshot();
    expect([free(test), running, leaving]).toEqual([97, 0, 1]);
    test.step();
    expect(free(test)).toBe(100);
  });

  it('are free at once when the limit ends a sequence: no row of it is in flight', () => {
    const test = withConnector();
    test.submit('a', { outputTokens: 2, ...LENGTH });
    test.submit('b', { outputTokens: 9, ...LENGTH });
    test.step();
    expect(test.step()).toMatchObject({ finished: ['a'] });
    expect(free(test)).toBe(97);
  });

  it('are free at once with the rule of old versions', () => {
    const test = withConnector({ freesAtOnce: true });
    test.submit('a', { outputTokens: 2 });
    test.step();
    expect(test.step()).toMatchObject({ finished: ['a'] });
    expect(free(test)).toBe(100);
  });

  it('are freed once, one step after the abort of a sequence', () => {
    const test = withConnector();
    const handle = test.submit('a');
    test.step();
    test.engine.abort(handle);
    test.engine.abort(handle);
    expect([free(test), test.engine.counters.aborted]).toEqual([97, 1]);
    expect(test.step()).toMatchObject({ emitted: [], finished: [] });
    expect([free(test), test.engine.counters.aborted]).toEqual([100, 1]);
  });

  it('admit the next sequence when they are free', () => {
    const test = withConnector({ numBlocks: 4 });
    test.submit('a', { outputTokens: 2 });
    test.submit('b', { promptTokens: 12, outputTokens: 1, ...LENGTH });
    const told = test.runToRest();
    // The batch behind a's dropped row is formed before its blocks are free.
    expect(told.map(({ finished }) => finished.join())).toEqual(['', 'a', '', 'b']);
  });
});

describe('a sequence without enough blocks, beside others in flight', () => {
  /** All blocks are taken; the third token of b needs one more. */
  function scarce(hasConnector: boolean): TestEngine {
    const test = withConnector({ numBlocks: 6, hasConnector, enablePrefixCaching: false });
    test.submit('a', { promptTokens: 5, outputTokens: 8 });
    test.submit('b', { promptTokens: 7, outputTokens: 8 });
    test.submit('c', { promptTokens: 5, outputTokens: 8 });
    return test;
  }

  it('is left out with all sequences behind it, then the last of them is preempted', () => {
    const told = takenFrom(scarce(true));
    expect(told).toEqual(['a b c', 'a b c', 'a, c preempted', 'a b']);
  });

  it('preempts at once without a connector', () => {
    const told = takenFrom(scarce(false));
    expect(told).toEqual(['a b c', 'a b c, c preempted', 'a b', 'a b']);
  });

  it('preempts without a pause when no sequence is left in the batch', () => {
    const test = withConnector({ numBlocks: 4, enablePrefixCaching: false });
    for (const name of ['a', 'b']) test.submit(name, { promptTokens: 7, outputTokens: 8 });
    expect(takenFrom(test)).toEqual(['a b', 'a b', 'a, b preempted', 'a']);
  });

  it('eventually gets all of its tokens', () => {
    const test = scarce(true);
    const told = test.runToRest();
    const tokens = (name: string) => told.filter(({ emitted }) => emitted.includes(name)).length;
    expect(['a', 'b', 'c'].map(tokens)).toEqual([8, 8, 8]);
    expect([test.engine.counters.generatedTokens, free(test)]).toEqual([24, 6]);
  });
});
