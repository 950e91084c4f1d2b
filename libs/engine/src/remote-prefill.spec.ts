import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const HASHES = [11, 12, 13, 14];
const CACHED = { blockHashes: HASHES };
const REMOTE = { mode: 'remote-prefill' } as const;
const HOLD = { mode: 'prefill-and-hold' } as const;

describe('prefill and hold', () => {
  it('computes the prompt, throws the token away and keeps the blocks without a slot', () => {
    const test = new TestEngine({ maxNumSeqs: 1 });
    const handle = test.submit('a', HOLD);
    expect(test.step()).toMatchObject({ held: ['a'], emitted: [], firstTokens: [], finished: [] });
    expect(test.engine.blockIds(handle)).toHaveLength(2);
    expect(test.engine.blockGenerations(handle)).toEqual([1, 1]);
    expect(test.engine.snapshot()).toMatchObject({ running: 0, heldBlocks: 2, freeBlocks: 98 });
    expect(test.engine.hasWork()).toBe(false);
    test.submit('b', HOLD);
    expect(test.step()).toMatchObject({ held: ['b'] });
    test.engine.releaseHeld(handle);
    expect(test.engine.snapshot()).toMatchObject({ heldBlocks: 2, freeBlocks: 98 });
    expect(test.engine.counters).toMatchObject({ generatedTokens: 0, finished: 0 });
  });

  it('lets remote KV wait for the held blocks instead of taking those for its drafts', () => {
    const speculation = { tokens: 1, acceptanceRate: 0 };
    const test = new TestEngine({ numBlocks: 6, speculation });
    test.submit('a', HOLD);
    test.step();
    test.submit('b', { ...REMOTE, promptTokens: 16, outputTokens: 2 });
    expect(test.reserve()).toBeUndefined();
    test.engine.releaseHeld(test.handle('a'));
    expect(test.reserve()).toBe('b lacks 16');
  });

  it('leaves the released blocks findable', () => {
    const test = new TestEngine();
    test.submit('a', { ...HOLD, blockHashes: HASHES });
    test.step();
    test.engine.releaseHeld(test.handle('a'));
    test.submit('b', { promptTokens: 9, blockHashes: HASHES });
    test.step();
    expect(test.engine.cachedTokens(test.handle('b'))).toBe(8);
  });
});

describe('remote prefill', () => {
  it('reserves, waits for the KV, computes the last prompt token again and generates', () => {
    const test = new TestEngine();
    test.submit('a', { ...REMOTE, outputTokens: 2 });
    expect(test.step()).toBeUndefined();
    expect(test.reserve()).toBe('a lacks 8');
    expect(test.reserve()).toBeUndefined();
    expect(test.engine.snapshot()).toMatchObject({ deferred: 1, waiting: 0, freeBlocks: 98 });
    expect(test.step()).toBeUndefined();
    test.engine.kvArrived(test.handle('a'));
    expect(test.engine.snapshot()).toMatchObject({ deferred: 0, waiting: 1, waitingTokens: 1 });
    expect(test.step()).toMatchObject({ scheduled: ['a'], firstTokens: ['a'], endUs: 1000 + 8 });
    expect(test.step()).toMatchObject({ finished: ['a'] });
    expect(test.engine.counters).toMatchObject({
      promptTokensTransferred: 8,
      promptTokensComputed: 0,
      generatedTokens: 2,
    });
  });

  it('fetches only what the local cache lacks, and the last block at least', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 8, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { ...REMOTE, promptTokens: 12, blockHashes: HASHES });
    test.submit('c', { ...REMOTE, promptTokens: 8, blockHashes: HASHES });
    expect([test.reserve(), test.reserve()]).toEqual(['b lacks 4', 'c lacks 4']);
    expect(test.engine.cachedTokens(test.handle('b'))).toBe(8);
    for (const name of ['b', 'c']) test.engine.kvArrived(test.handle(name));
    test.runToRest();
    expect(test.engine.counters).toMatchObject({
      promptTokensComputed: 8,
      promptTokensCached: 12,
      promptTokensTransferred: 8,
    });
  });

  it('fetches whole blocks, the begun one included', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 8, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { ...REMOTE, promptTokens: 13, blockHashes: HASHES });
    test.submit('c', { ...REMOTE, promptTokens: 1 });
    expect([test.reserveBlocks(), test.reserveBlocks()]).toEqual([2, 1]);
  });

  it('is admitted past one whose blocks only it can free', () => {
    const test = new TestEngine({ blockSize: 1, numBlocks: 2, schedulingPolicy: 'priority' });
    test.submit('whole', { ...REMOTE, promptTokens: 1, outputTokens: 1, priority: 1 });
    expect(test.reserve()).toBe('whole lacks 1');
    test.submit('part', { ...HOLD, promptTokens: 2, remoteTokens: 1, priority: 0 });
    expect(test.reserve()).toBe('part lacks 1');
    for (const name of ['whole', 'part']) test.engine.kvArrived(test.handle(name));
    expect(test.step()).toMatchObject({ scheduled: ['whole'], finished: ['whole'] });
    expect(test.step()).toMatchObject({ scheduled: ['part'], held: ['part'] });
  });

  it('shares arrived blocks with others', () => {
    const test = new TestEngine();
    test.submit('a', { ...REMOTE, blockHashes: HASHES });
    test.reserve();
    test.engine.kvArrived(test.handle('a'));
    test.submit('b', { ...REMOTE, promptTokens: 10, blockHashes: HASHES });
    test.step();
    expect(test.reserve()).toBe('b lacks 2');
  });

  it('starts no pull in the middle of a step', () => {
    const test = new TestEngine();
    test.submit('running', { outputTokens: 3 });
    test.engine.beginStep(0);
    test.submit('remote', REMOTE);
    expect(test.engine.reserveNext()).toBeUndefined();
    test.engine.endStep();
    test.engine.beginStep(1080);
    expect(test.engine.reserveNext()).toMatchObject({ missingTokens: 8 });
  });

  it('starts no pull in a step that preempted', () => {
    const test = new TestEngine({ numBlocks: 4 });
    test.submit('old', { outputTokens: 8 });
    test.submit('new', { outputTokens: 8 });
    test.step();
    test.submit('remote', { ...REMOTE, promptTokens: 1, remoteTokens: 1 });
    const told = test.step();
    expect(told?.preempted).toEqual(['new']);
    expect(test.engine.reserveNext()).toBeUndefined();
  });

  it('keeps the blocks free that a prompt under way still needs', () => {
    const test = new TestEngine({ numBlocks: 8, maxNumBatchedTokens: 8 });
    test.submit('long', { promptTokens: 24, outputTokens: 1 });
    test.step();
    test.submit('remote', { ...REMOTE, promptTokens: 12, outputTokens: 1 });
    test.step();
    expect(test.engine.reserveNext()).toBeUndefined();
    test.step();
    expect(test.reserve()).toBe('remote lacks 12');
  });

  it('leaves the watermark free while others run', () => {
    const reserved = [0, 1].map((watermarkBlocks) => {
      const test = new TestEngine({ numBlocks: 5, watermarkBlocks });
      test.submit('running', { promptTokens: 12, outputTokens: 1 });
      test.submit('other', { promptTokens: 8, outputTokens: 1 });
      return test.step()?.scheduled;
    });
    expect(reserved).toEqual([['running', 'other'], ['running']]);
  });

  it('reserves in scheduling order, when blocks and a slot are free', () => {
    const test = new TestEngine({ schedulingPolicy: 'priority', numBlocks: 4, maxNumSeqs: 1 });
    test.submit('second', { ...REMOTE, priority: 1, outputTokens: 1 });
    test.submit('first', { ...REMOTE, priority: 0, promptTokens: 12, outputTokens: 1 });
    expect([test.reserve(), test.reserve()]).toEqual(['first lacks 12', undefined]);
    test.engine.kvArrived(test.handle('first'));
    expect(test.reserve()).toBeUndefined();
    test.endStep();
    expect(test.reserve()).toBe('second lacks 8');
  });

  it('does not reserve past a local sequence that stands before it', () => {
    const test = new TestEngine({ numBlocks: 5 });
    test.submit('running', { promptTokens: 8, outputTokens: 3 });
    test.step();
    test.submit('local', { promptTokens: 16, outputTokens: 1 });
    test.submit('remote', { ...REMOTE, promptTokens: 4 });
    test.step();
    expect(test.reserve()).toBeUndefined();
    test.runToRest();
    expect(test.reserve()).toBe('remote lacks 4');
  });

  it('computes the prompt here when the KV does not come', () => {
    const test = new TestEngine();
    test.submit('a', { ...REMOTE, outputTokens: 1 });
    test.submit('b', { ...REMOTE, outputTokens: 1 });
    test.reserve();
    test.engine.kvFailed(test.handle('a'));
    expect(test.engine.snapshot().freeBlocks).toBe(96);
    test.engine.kvFailed(test.handle('b'));
    expect(test.step()).toMatchObject({ finished: ['a', 'b'], endUs: 1000 + 10 * 16 });
    expect(test.engine.counters).toMatchObject({
      promptTokensComputed: 16,
      promptTokensTransferred: 0,
    });
  });

  it('goes before those without blocks when its KV does not come, and looks in the cache again', () => {
    const test = new TestEngine({ maxNumSeqs: 1, schedulingPolicy: 'priority' });
    test.submit('remote', { ...REMOTE, promptTokens: 14, priority: 1, ...CACHED });
    test.reserve();
    test.submit('same', { promptTokens: 12, outputTokens: 2, ...CACHED });
    test.step();
    test.submit('local', { outputTokens: 1 });
    test.engine.kvFailed(test.handle('remote'));
    // The slot is taken, so its four blocks stay in use.
    expect(test.engine.snapshot().freeBlocks).toBe(100 - 3 - 4);
    test.step();
    expect(test.step()).toMatchObject({ scheduled: ['remote'] });
    expect(test.engine.cachedTokens(test.handle('remote'))).toBe(12);
    expect(test.engine.snapshot().freeBlocks).toBe(96);
  });

  it('computes a sequence here that was preempted after its KV arrived', () => {
    const test = new TestEngine({ numBlocks: 5 });
    test.submit('a', { outputTokens: 8 });
    test.step();
    test.submit('b', { ...REMOTE, outputTokens: 8 });
    test.reserve();
    test.engine.kvArrived(test.handle('b'));
    const told = test.runToRest();
    expect(told.flatMap((t) => t.preempted)).toEqual(['b']);
    expect(told.flatMap((t) => t.finished)).toEqual(['a', 'b']);
    expect(told.flatMap((t) => t.firstTokens)).toEqual(['b']);
  });
});

describe('abort', () => {
  it('frees waiting, reserved and held sequences at once, in and out of a step', () => {
    for (const isInStep of [true, false]) {
      const test = new TestEngine({ maxNumSeqs: 2 });
      test.submit('held', HOLD);
      test.step();
      test.submit('remote', REMOTE);
      test.reserve();
      test.submit('x', { promptTokens: 4, outputTokens: 2 });
      test.submit('y', { promptTokens: 4, outputTokens: 2 });
      test.submit('waiting');
      if (isInStep) test.engine.beginStep(test.nowUs);
      for (const name of ['held', 'remote', 'waiting']) test.engine.abort(test.handle(name));
      expect(test.engine.snapshot().freeBlocks).toBe(isInStep ? 98 : 100);
      expect(test.engine.counters.aborted).toBe(3);
      if (isInStep) test.endStep();
      test.runToRest();
      expect(test.engine.snapshot()).toMatchObject({ freeBlocks: 100, running: 0, waiting: 0 });
      expect(test.engine.counters.finished).toBe(2);
    }
  });

  it('of a running sequence takes effect with the end of the step, without a token', () => {
    const test = new TestEngine();
    test.submit('decoding');
    test.submit('other');
    test.step();
    test.submit('prefilling');
    test.engine.beginStep(test.nowUs);
    for (const name of ['decoding', 'prefilling', 'decoding']) {
      test.engine.abort(test.handle(name));
    }
    expect(test.endStep()).toMatchObject({ emitted: ['other'], finished: [], firstTokens: [] });
    expect(test.engine.snapshot()).toMatchObject({ running: 1, freeBlocks: 97 });
    expect(test.engine.counters).toMatchObject({ aborted: 2, generatedTokens: 3 });
  });

  it('of a running sequence between steps frees its blocks at once', () => {
    const test = new TestEngine();
    test.submit('a');
    test.step();
    test.engine.abort(test.handle('a'));
    expect(test.engine.snapshot().freeBlocks).toBe(100);
    expect(test.step()).toBeUndefined();
  });
});

describe('a prompt with a part from elsewhere', () => {
  it('is computed after that part, and held', () => {
    const test = new TestEngine();
    const part = { ...HOLD, promptTokens: 14, remoteTokens: 8, blockHashes: HASHES };
    const handle = test.submit('a', part);
    expect([test.step(), test.reserve()]).toEqual([undefined, 'a lacks 8']);
    test.engine.kvArrived(handle);
    expect(test.step()).toMatchObject({ scheduled: ['a'], held: ['a'], endUs: 1000 + 60 });
    expect(test.engine.blockIds(handle)).toHaveLength(4);
    expect(test.engine.counters).toMatchObject({
      promptTokensTransferred: 8,
      promptTokensComputed: 6,
    });
  });

  it('takes from elsewhere only blocks that the local cache lacks', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    const rest = { ...HOLD, promptTokens: 14, blockHashes: HASHES };
    test.submit('b', { ...rest, remoteTokens: 8 });
    test.submit('c', { ...rest, remoteTokens: 14 });
    expect([test.reserve(), test.reserve()]).toEqual(['b lacks 0', 'c lacks 2']);
    for (const name of ['b', 'c']) test.engine.kvArrived(test.handle(name));
    test.runToRest();
    expect(test.engine.counters).toMatchObject({
      promptTokensComputed: 12 + 2,
      promptTokensCached: 24,
      promptTokensTransferred: 2,
    });
  });

  it('is computed at once when the local cache has that part by now, and reported', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    const handle = test.submit('b', { ...REMOTE, promptTokens: 14, remoteTokens: 8, ...CACHED });
    expect(test.reserve()).toBe('b lacks 0');
    test.engine.kvArrived(handle);
    expect(test.endStep()).toMatchObject({ scheduled: ['b'], firstTokens: ['b'] });
    expect(test.engine.cachedTokens(handle)).toBe(12);
    test.runToRest();
    expect(test.engine.counters).toMatchObject({ finished: 2, promptTokensComputed: 14 });
  });

  it('runs on when the source of a part that the local cache has fails', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    const handle = test.submit('b', { ...REMOTE, promptTokens: 14, remoteTokens: 8, ...CACHED });
    expect(test.reserve()).toBe('b lacks 0');
    test.engine.kvFailed(handle);
    expect(test.endStep()).toMatchObject({ scheduled: ['b'], firstTokens: ['b'] });
    test.engine.audit();
  });

  it('is not reported when it is aborted before it could be', () => {
    const test = new TestEngine();
    test.submit('a', { promptTokens: 12, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { ...REMOTE, promptTokens: 14, remoteTokens: 8, ...CACHED });
    test.step();
    test.engine.abort(test.handle('b'));
    expect(test.engine.reserveNext()).toBeUndefined();
    test.engine.audit();
  });

  it('is computed whole when that part does not come', () => {
    const test = new TestEngine();
    const handle = test.submit('a', { ...HOLD, promptTokens: 14, remoteTokens: 8 });
    test.reserve();
    test.engine.kvFailed(handle);
    expect(test.step()).toMatchObject({ held: ['a'] });
    expect(test.engine.counters.promptTokensComputed).toBe(14);
  });
});

describe('a sequence that is held at its end', () => {
  it('keeps the blocks of prompt and output, and is finished once', () => {
    const test = new TestEngine();
    const kept = { holdsAtEnd: true, promptTokens: 8, outputTokens: 5, blockHashes: HASHES };
    const handle = test.submit('a', kept);
    expect(test.runToRest().at(-1)).toMatchObject({ finished: ['a'], held: [] });
    expect(test.engine.blockIds(handle)).toHaveLength(3);
    expect(test.engine.snapshot()).toMatchObject({ running: 0, heldBlocks: 3, freeBlocks: 97 });
    test.engine.releaseHeld(handle);
    expect(test.engine.snapshot()).toMatchObject({ heldBlocks: 0, freeBlocks: 100 });
    expect(test.engine.counters).toMatchObject({ finished: 1, aborted: 0 });
    test.engine.audit();
  });

  it('is released by an abort without being counted again', () => {
    const test = new TestEngine();
    const handle = test.submit('a', { holdsAtEnd: true, outputTokens: 1 });
    test.step();
    test.engine.abort(handle);
    test.engine.audit();
    expect(test.engine.counters).toMatchObject({ finished: 1, aborted: 0 });
    expect(test.engine.snapshot().freeBlocks).toBe(100);
  });
});
