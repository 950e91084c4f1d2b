import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const HASHES = [11, 12, 13, 14, 15, 16];

describe('preemption', () => {
  it('requeues the newest sequence, computes it again and repeats no token', () => {
    const test = new TestEngine({ numBlocks: 5, enablePrefixCaching: false });
    test.submit('old', { outputTokens: 8 });
    test.submit('new', { outputTokens: 6 });
    const tokens = { old: 0, new: 0 };
    const preempted: string[] = [];
    for (const told of test.runToRest()) {
      preempted.push(...told.preempted);
      for (const name of told.emitted) tokens[name as 'old' | 'new']++;
    }
    expect(preempted).toEqual(['new']);
    expect(tokens).toEqual({ old: 8, new: 6 });
    expect(test.engine.counters).toMatchObject({
      preemptions: 1,
      promptTokensComputed: 16,
      generatedTokens: 14,
    });
  });

  it('finds the lost blocks in the prefix cache, generated ones included', () => {
    const test = new TestEngine({ numBlocks: 6 });
    test.submit('old', { promptTokens: 8, outputTokens: 12 });
    test.submit('new', { promptTokens: 8, outputTokens: 6, blockHashes: HASHES });
    while (test.engine.counters.preemptions === 0) test.step();
    const { contents } = test.engine.cacheState();
    expect(contents.filter((hash) => hash !== 0)).toEqual(expect.arrayContaining([11, 12]));
    const told = test.runToRest();
    expect(told.flatMap((t) => t.finished).sort()).toEqual(['new', 'old']);
  });

  it('does not report prompt or cache hit again for the recomputation', () => {
    const test = new TestEngine({ numBlocks: 5 });
    test.submit('old', { outputTokens: 8, blockHashes: HASHES });
    test.submit('new', { outputTokens: 8, blockHashes: [21, 22, 23, 24] });
    test.runToRest();
    expect(test.engine.counters).toMatchObject({ promptTokensComputed: 16, promptTokensCached: 0 });
    expect(test.engine.cachedTokens(test.handle('new'))).toBe(0);
    expect(test.engine.counters.prefixQueriesTokens).toBe(16);
  });

  it('admits no sequence in a step with a preemption', () => {
    const test = new TestEngine({ numBlocks: 5 });
    test.submit('old', { outputTokens: 8 });
    test.submit('new', { outputTokens: 8 });
    test.submit('tiny', { promptTokens: 1, outputTokens: 1 });
    const told = test.runToRest();
    const at = told.findIndex((t) => t.preempted.length > 0);
    expect(told[at]?.scheduled).toEqual([]);
  });
});

describe('preemption without block hashes', () => {
  it.each([undefined, 100])('computes again only blocks evicted since (%s contents)', (count) => {
    const contents = count === undefined ? {} : { contentCount: count };
    const test = new TestEngine({ numBlocks: 15, maxNumBatchedTokens: 100, ...contents });
    test.submit('old', { promptTokens: 20, outputTokens: 20 });
    test.submit('new', { promptTokens: 32, outputTokens: 12 });
    const chunks: number[] = [];
    while (test.engine.beginStep(test.nowUs) !== undefined) {
      const { batch } = test.engine.queueState();
      const tokens = batch.find(([handle]) => handle === test.handle('new'))?.[1] ?? 0;
      if (tokens > 1) chunks.push(tokens);
      test.endStep();
    }
    const [whole, again, ...more] = chunks;
    expect([whole, more]).toEqual([32, []]);
    expect(again).toBeLessThan(20);
  });
});

describe('preemption order', () => {
  it('puts the last preempted sequence first in the queue', () => {
    const test = new TestEngine({ numBlocks: 9, maxNumSeqs: 3 });
    for (const name of ['a', 'b', 'c']) test.submit(name, { promptTokens: 12, outputTokens: 12 });
    test.submit('later', { promptTokens: 4, outputTokens: 1 });
    const preempted: string[] = [];
    while (preempted.length < 2) preempted.push(...test.step()!.preempted);
    expect(preempted).toEqual(['c', 'b']);
    const order = ['b', 'c', 'later'].map((name) => test.handle(name));
    expect(test.engine.queueState().waiting).toEqual(order);
  });
});

describe('scheduler_reserve_full_isl', () => {
  const firstSteps = (schedulerReserveFullIsl: boolean) => {
    const test = new TestEngine({
      schedulerReserveFullIsl,
      numBlocks: 11,
      maxNumBatchedTokens: 20,
    });
    test.submit('old', { promptTokens: 24, outputTokens: 4 });
    test.submit('new', { promptTokens: 24, outputTokens: 2 });
    return test.runToRest();
  };

  it('keeps a prompt waiting until it fits completely', () => {
    const told = firstSteps(true);
    expect(told.flatMap((each) => each.preempted)).toEqual([]);
    const ended = told.findIndex((each) => each.finished.includes('old'));
    expect(told.findIndex((each) => each.scheduled.includes('new'))).toBe(ended + 1);
  });

  it('when off, admits a prompt whose first chunk fits, and preempts it later', () => {
    const told = firstSteps(false);
    expect(told[1]?.scheduled).toEqual(['new']);
    expect(told.flatMap((each) => each.preempted)).toContain('new');
  });
});

describe('the prefix cache', () => {
  it('serves the blocks of an earlier prompt, all but the last token', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    expect(test.engine.cachedTokens(test.handle('b'))).toBe(8);
    expect(test.engine.counters).toMatchObject({
      promptTokensComputed: 12 + 4,
      promptTokensCached: 8,
      prefixQueriesTokens: 24,
      prefixHitsTokens: 8,
    });
  });

  it('shares blocks between sequences in the same step', () => {
    const test = new TestEngine({ numBlocks: 100 });
    test.submit('a', { promptTokens: 9, blockHashes: HASHES });
    test.submit('b', { promptTokens: 9, blockHashes: HASHES });
    test.step();
    expect(test.engine.blockIds(test.handle('b')).slice(0, 2)).toEqual(
      test.engine.blockIds(test.handle('a')).slice(0, 2),
    );
    expect(test.engine.snapshot().freeBlocks).toBe(100 - 4);
  });

  it('also keeps generated blocks, for the next turn of a conversation', () => {
    const test = new TestEngine();
    test.submit('turn 1', { promptTokens: 8, outputTokens: 5, blockHashes: HASHES });
    test.runToRest();
    test.submit('turn 2', { promptTokens: 16, outputTokens: 1, blockHashes: HASHES });
    test.step();
    expect(test.engine.cachedTokens(test.handle('turn 2'))).toBe(12);
  });

  it('has a block only after the step that fills it', () => {
    const test = new TestEngine({ maxNumBatchedTokens: 6 });
    test.submit('a', { promptTokens: 12, blockHashes: HASHES });
    test.step();
    expect(test.engine.cacheState().contents.filter((hash) => hash !== 0)).toEqual([11]);
  });

  it('evicts the tail of a sequence before its head', () => {
    const test = new TestEngine({ numBlocks: 4 });
    test.submit('a', { promptTokens: 16, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { promptTokens: 8, outputTokens: 1 });
    test.step();
    test.submit('c', { promptTokens: 16, outputTokens: 1, blockHashes: HASHES });
    test.step();
    expect(test.engine.cachedTokens(test.handle('c'))).toBe(8);
  });

  it('finds nothing when it is off', () => {
    const test = new TestEngine({ enablePrefixCaching: false });
    for (const name of ['a', 'b']) {
      test.submit(name, { outputTokens: 1, blockHashes: HASHES });
      test.step();
      expect(test.engine.cachedTokens(test.handle(name))).toBe(0);
    }
  });
});

describe('waiting for blocks', () => {
  it('lets no sequence pass the head of the queue', () => {
    const test = new TestEngine({ numBlocks: 5 });
    test.submit('a', { promptTokens: 12, outputTokens: 2 });
    test.submit('large', { promptTokens: 16, outputTokens: 1 });
    test.submit('small', { promptTokens: 1, outputTokens: 1 });
    const order = test.runToRest().map((told) => told.scheduled.join());
    expect(order).toEqual(['a', '', 'large,small']);
  });

  it('lets arrived KV pass it, which holds the blocks that the head waits for', () => {
    const test = new TestEngine({ numBlocks: 6, maxNumBatchedTokens: 8 });
    test.submit('remote', { promptTokens: 16, outputTokens: 1, mode: 'remote-prefill' });
    expect(test.reserve()).toBe('remote lacks 16');
    test.submit('local', { promptTokens: 20, outputTokens: 1, priority: -1 });
    expect(test.step()).toMatchObject({ scheduled: ['local'] });
    test.engine.kvArrived(test.handle('remote'));
    const ends = test.runToRest().flatMap((told) => told.finished);
    expect(ends).toEqual(['remote', 'local']);
  });
});
