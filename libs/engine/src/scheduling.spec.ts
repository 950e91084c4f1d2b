import { describe, expect, it } from 'vitest';
import { specOf, TestEngine } from '../test/test-engine';

describe('what an engine accepts', () => {
  const { engine } = new TestEngine({ maxModelLen: 20, numBlocks: 4 });

  it('refuses sequences longer than the context', () => {
    const admission = engine.submit(specOf('a', { promptTokens: 17, outputTokens: 4 }));
    expect(admission).toEqual({ kind: 'refused', why: 'exceeds-context' });
  });

  it('refuses sequences that need more blocks than exist; the last token needs none', () => {
    const admission = engine.submit(specOf('a', { promptTokens: 14, outputTokens: 4 }));
    expect(admission).toEqual({ kind: 'refused', why: 'exceeds-kv-capacity' });
    expect(engine.submit(specOf('b', { promptTokens: 14, outputTokens: 3 })).kind).toBe('accepted');
  });

  it('accepts a prompt to hold when only the prompt fits', () => {
    const hold = specOf('a', { promptTokens: 16, outputTokens: 4, mode: 'prefill-and-hold' });
    expect(engine.submit(hold).kind).toBe('accepted');
  });
});

describe('a sequence', () => {
  it('gets its first token with the end of its prompt and ends with its last token', () => {
    const test = new TestEngine();
    test.submit('a', { outputTokens: 3 });
    const [prompt, second, third, ...rest] = test.runToRest();
    expect(prompt).toMatchObject({ scheduled: ['a'], emitted: ['a'], firstTokens: ['a'] });
    expect(second).toMatchObject({ scheduled: [], emitted: ['a'], firstTokens: [], finished: [] });
    expect(third).toMatchObject({ emitted: ['a'], finished: ['a'] });
    expect(rest).toEqual([]);
    expect(test.engine.tokenIndex(test.handle('a'))).toBe(2);
    expect(test.engine.counters).toMatchObject({ steps: 3, generatedTokens: 3, finished: 1 });
    expect(test.engine.snapshot().kvUsage).toBe(0);
  });

  it('of one token ends with its prompt', () => {
    const test = new TestEngine();
    test.submit('a', { outputTokens: 1 });
    test.submit('b', { outputTokens: 1 });
    expect(test.step()).toMatchObject({ emitted: ['a', 'b'], finished: ['a', 'b'] });
  });

  it('of one token is reported beside an unchanged batch', () => {
    const test = new TestEngine();
    test.submit('a', { outputTokens: 9 });
    test.step();
    test.submit('b', { outputTokens: 1 });
    expect(test.step()).toMatchObject({ emitted: ['a', 'b'], finished: ['b'] });
    expect(test.step()).toMatchObject({ emitted: ['a'], finished: [] });
  });

  it('keeps its handle until the next step begins, then frees it for others', () => {
    const test = new TestEngine();
    const handle = test.submit('a', { outputTokens: 1 });
    test.step();
    expect(test.submit('b')).not.toBe(handle);
    test.step();
    expect(test.submit('c')).toBe(handle);
  });
});

describe('a batch', () => {
  it('cuts a prompt at the token budget and gives decoding sequences theirs first', () => {
    const test = new TestEngine({ maxNumBatchedTokens: 10 });
    test.submit('short', { promptTokens: 4 });
    test.submit('long', { promptTokens: 20 });
    expect(test.step()).toMatchObject({ scheduled: ['short', 'long'], firstTokens: ['short'] });
    expect(test.step()).toMatchObject({ emitted: ['short'] });
    expect(test.engine.counters.promptTokensComputed).toBe(10 + 9);
    expect(test.step()).toMatchObject({ emitted: ['long', 'short'], firstTokens: ['long'] });
  });

  it('shares the budget between prompts when a threshold caps each', () => {
    const test = new TestEngine({ maxNumBatchedTokens: 16, longPrefillTokenThreshold: 6 });
    test.submit('a', { promptTokens: 18 });
    test.submit('b', { promptTokens: 5 });
    test.submit('c', { promptTokens: 18 });
    expect(test.step()).toMatchObject({ scheduled: ['a', 'b', 'c'], firstTokens: ['b'] });
    expect(test.engine.counters.promptTokensComputed).toBe(6 + 5 + 5);
    test.step();
    expect(test.engine.counters.promptTokensComputed).toBe(16 + 6 + 6);
    expect(test.step()).toMatchObject({ firstTokens: ['a'] });
    expect(test.step()).toMatchObject({ firstTokens: ['c'] });
  });

  it('takes one sequence per slot, and the next when one ends', () => {
    const test = new TestEngine({ maxNumSeqs: 2 });
    for (const name of ['a', 'b', 'c']) test.submit(name, { outputTokens: 2 });
    expect(test.step()).toMatchObject({ scheduled: ['a', 'b'] });
    expect(test.engine.snapshot()).toMatchObject({ running: 2, waiting: 1, waitingTokens: 8 });
    expect(test.step()).toMatchObject({ scheduled: [], finished: ['a', 'b'] });
    expect(test.step()).toMatchObject({ scheduled: ['c'] });
  });

  it('without chunked prefill takes a prompt whole or lets it wait', () => {
    const test = new TestEngine({ maxNumBatchedTokens: 12, enableChunkedPrefill: false });
    test.submit('a', { outputTokens: 2 });
    test.submit('b', { promptTokens: 12 });
    test.submit('c', { promptTokens: 1 });
    expect(test.step()).toMatchObject({ scheduled: ['a'], firstTokens: ['a'] });
    expect(test.step()).toMatchObject({ scheduled: [], finished: ['a'] });
    expect(test.step()).toMatchObject({ scheduled: ['b'], firstTokens: ['b'] });
    expect(test.step()).toMatchObject({ scheduled: ['c'] });
  });

  it('without chunked prefill runs a prompt above the budget alone', () => {
    const test = new TestEngine({ maxNumBatchedTokens: 12, enableChunkedPrefill: false });
    test.submit('a', { outputTokens: 2 });
    test.submit('b', { promptTokens: 30 });
    test.submit('c');
    const order = test.runToRest().map((told) => told.scheduled.join());
    expect(order.slice(0, 4)).toEqual(['a', '', 'b', 'c']);
  });

  it('gives a chunk and a decode the model’s time for their sums', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 8 });
    expect(test.step()?.endUs).toBe(1000 + 10 * 8);
    test.submit('b', { promptTokens: 20 });
    expect(test.step()?.endUs).toBe(1080 + 1000 + 10 * 20 + 9);
  });

  it('slows the first steps down by the warm-up penalty', () => {
    const test = new TestEngine({ warmupSteps: 2, warmupPenaltyPercent: 100 });
    test.submit('a', { promptTokens: 8 });
    const ends = test.runToRest().map((told) => told.endUs);
    expect(ends).toEqual([2160, 2160 + 2018, 4178 + 1010, 5188 + 1011]);
  });
});

describe('priority', () => {
  const policy = { schedulingPolicy: 'priority', maxNumSeqs: 1 } as const;

  it('admits the lower number first, then the earlier arrival', () => {
    const test = new TestEngine(policy);
    test.submit('late', { priority: 1, arrivalUs: 9 });
    test.submit('early', { priority: 1, arrivalUs: 3 });
    test.submit('urgent', { priority: 0, arrivalUs: 20 });
    const order = test.runToRest().flatMap((told) => told.scheduled);
    expect(order).toEqual(['urgent', 'early', 'late']);
  });

  it('preempts the last in its order, not the newest', () => {
    const test = new TestEngine({ ...policy, maxNumSeqs: 2, numBlocks: 5 });
    test.submit('low', { priority: 5, outputTokens: 8 });
    test.step();
    test.submit('high', { priority: 1, outputTokens: 8 });
    const preempted = test.runToRest().flatMap((told) => told.preempted);
    expect(preempted).toEqual(['low']);
  });

  it('is ignored under fcfs', () => {
    const test = new TestEngine({ maxNumSeqs: 1 });
    test.submit('first', { priority: 9 });
    test.submit('second', { priority: 0 });
    const order = test.runToRest().flatMap((told) => told.scheduled);
    expect(order).toEqual(['first', 'second']);
  });
});

describe('sjf', () => {
  const policy = { schedulingPolicy: 'sjf', maxNumSeqs: 1 } as const;
  const admitted = (test: TestEngine) => test.runToRest().flatMap((told) => told.scheduled);

  it('admits the shortest prompt first, equal ones by submission, whatever their outputs', () => {
    const test = new TestEngine(policy);
    test.submit('long', { promptTokens: 30, outputTokens: 1 });
    test.submit('medium', { promptTokens: 12, outputTokens: 9 });
    test.submit('equal', { promptTokens: 12, outputTokens: 2 });
    test.submit('short', { promptTokens: 3, outputTokens: 20 });
    expect(admitted(test)).toEqual(['short', 'medium', 'equal', 'long']);
  });

  it('leaves a long prompt waiting while shorter ones come, without ageing', () => {
    const test = new TestEngine(policy);
    test.submit('long', { promptTokens: 30, outputTokens: 1 });
    for (let i = 0; i < 20; i++) {
      test.submit(`short ${i}`, { arrivalUs: test.nowUs });
      expect(test.step()?.scheduled).toEqual([`short ${i}`]);
      while (test.engine.snapshot().running > 0) test.step();
    }
  });

  it('offsets length by waiting time at the rate of ageing', () => {
    for (const [laterUs, first] of [
      [10_900, 'short'],
      [11_100, 'long'],
    ] as const) {
      const test = new TestEngine({ ...policy, sjfAgingTokensPerSecond: 2_000 });
      test.submit('long', { promptTokens: 30, arrivalUs: 0 });
      test.submit('short', { promptTokens: 8, arrivalUs: laterUs });
      expect(admitted(test)[0]).toBe(first);
    }
  });

  it('counts the tokens that a preempted sequence computes again, and preempts the newest', () => {
    const test = new TestEngine({ schedulingPolicy: 'sjf', numBlocks: 5 });
    test.submit('old', { promptTokens: 8, outputTokens: 8 });
    test.submit('new', { promptTokens: 7, outputTokens: 8, arrivalUs: 1 });
    const told = test.runToRest();
    expect(told[0]?.scheduled).toEqual(['new', 'old']);
    expect(told.flatMap((each) => each.preempted)).toEqual(['old']);
  });
});
