import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

/** Blocks of 4 tokens; one group keeps everything, two keep the last 8 tokens. */
const GROUPS = { full: 1, windowed: 2, windowTokens: 8 };
const HASHES = [11, 12, 13, 14, 15, 16];

const SMALL = { maxNumBatchedTokens: 16 };

const used = (test: TestEngine): number => 100 - test.engine.snapshot().freeBlocks;

describe('an engine with groups of layers', () => {
  it('takes a block of each group, and frees those that the window has left', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 8, outputTokens: 20 });
    test.step();
    expect(used(test)).toBe(2 * 3);
    for (let computed = 8; computed < 26; computed++) {
      test.step();
      const all = Math.ceil((computed + 1) / 4);
      const left = Math.floor(Math.max(0, computed - 7) / 4);
      expect(used(test)).toBe(all + 2 * (all - left));
    }
    test.runToRest();
    expect(used(test)).toBe(0);
  });

  it('frees the blocks that a long prompt has left with the token after it', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 40, outputTokens: 3 });
    test.step();
    expect(used(test)).toBe(3 * 10);
    test.step();
    // 40 tokens computed: 33 are outside, 8 blocks; the 41st token opens the eleventh.
    expect(used(test)).toBe(11 + 2 * (11 - 8));
  });

  it('between the chunks of a prompt', () => {
    const test = new TestEngine({ kvGroups: GROUPS, maxNumBatchedTokens: 16 });
    test.submit('a', { promptTokens: 48, outputTokens: 1 });
    test.step();
    expect(used(test)).toBe(3 * 4);
    test.step();
    expect(used(test)).toBe(8 + 2 * (8 - 2));
  });

  it('with chunked local attention frees a whole chunk at its end', () => {
    const test = new TestEngine({ kvGroups: { ...GROUPS, isChunked: true } });
    test.submit('a', { promptTokens: 7, outputTokens: 12 });
    const seen = [7, 8, 9, 10, 11, 12].map(() => (test.step(), used(test)));
    // The step after 8 computed tokens frees the two blocks of the first chunk.
    expect(seen).toEqual([3 * 2, 3 * 2, 3 + 2 * 1, 3 + 2 * 1, 3 + 2 * 1, 3 + 2 * 1]);
  });

  it('holds more and longer sequences than one with full attention', () => {
    const of = (options: object) => new TestEngine({ numBlocks: 30, ...options });
    const grouped = of({ kvGroups: GROUPS, maxNumBatchedTokens: 8 });
    const whole = of({ kvGroups: { ...GROUPS, windowTokens: 1000 } });
    const long = { promptTokens: 60, outputTokens: 1 };
    expect(grouped.submit('long', long)).toBeGreaterThanOrEqual(0);
    expect(whole.submit('long', long)).toBe(-1);
  });

  it('preempts the newest when the blocks of all groups together run out', () => {
    const test = new TestEngine({ kvGroups: GROUPS, numBlocks: 14, maxNumBatchedTokens: 12 });
    test.submit('old', { outputTokens: 8 });
    test.submit('new', { outputTokens: 8 });
    const told = test.runToRest();
    expect(new Set(told.flatMap((each) => each.preempted))).toEqual(new Set(['new']));
    expect(told.flatMap((each) => each.finished).sort()).toEqual(['new', 'old']);
  });

  it('takes only the blocks of the window for a cached prefix', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 24, outputTokens: 1, blockHashes: HASHES });
    test.step();
    test.submit('b', { promptTokens: 24, outputTokens: 9, blockHashes: HASHES });
    test.step();
    expect(test.engine.cachedTokens(test.handle('b'))).toBe(20);
    // 20 tokens are there: 13 are outside, 3 blocks.
    expect(used(test)).toBe(6 + 2 * (6 - 3));
  });

  it('reserves only the blocks of the window for fetched KV', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 40, outputTokens: 2, mode: 'remote-prefill' });
    expect(test.reserve()).toBe('a lacks 40');
    expect(used(test)).toBe(10 + 2 * (10 - 8));
    test.engine.kvArrived(test.handle('a'));
    test.runToRest();
    expect(used(test)).toBe(0);
  });

  it('fetches the begun blocks of each group, and only those of the window', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 41, outputTokens: 2, mode: 'remote-prefill' });
    // Of 11 blocks the window has left 8 behind.
    expect(test.reserveBlocks()).toBe(11 + 2 * (11 - 8));
  });

  it('fetches a window that begins in the local cache from the end of the cached part', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 24, outputTokens: 1, blockHashes: HASHES });
    test.step();
    const remote = { mode: 'remote-prefill' } as const;
    test.submit('b', { ...remote, promptTokens: 26, outputTokens: 2, blockHashes: HASHES });
    // Of 7 blocks 6 are cached, and the window has left 4 behind.
    expect(test.reserveBlocks()).toBe(3 * (7 - 6));
  });

  it('holds the blocks of all groups for a fetch, and frees them all', () => {
    const test = new TestEngine({ kvGroups: GROUPS, maxNumBatchedTokens: 16 });
    test.submit('a', { promptTokens: 48, mode: 'prefill-and-hold' });
    test.runToRest();
    const { heldBlocks } = test.engine.snapshot();
    // The last chunk began with 32 tokens: 25 were outside, 6 blocks.
    expect(heldBlocks).toBe(12 + 2 * (12 - 6));
    expect(used(test)).toBe(heldBlocks);
    test.engine.releaseHeld(test.handle('a'));
    expect(used(test)).toBe(0);
  });

  it('with a connector holds the blocks that the last window needs', () => {
    const test = new TestEngine({ kvGroups: GROUPS, hasConnector: true, ...SMALL });
    test.submit('a', { promptTokens: 48, mode: 'prefill-and-hold' });
    test.runToRest();
    // 48 tokens computed: 41 are outside, 10 blocks.
    expect(test.engine.snapshot().heldBlocks).toBe(12 + 2 * (12 - 10));
    test.engine.releaseHeld(test.handle('a'));
    expect(used(test)).toBe(0);
  });

  it('leaps over many steps, taking as many blocks as it frees', () => {
    const test = new TestEngine({ kvGroups: GROUPS });
    test.submit('a', { promptTokens: 16, outputTokens: 90 });
    test.step();
    test.step();
    const leaps: number[] = [];
    for (let told = test.step(Infinity); told !== undefined; told = test.step(Infinity)) {
      leaps.push(told.steps);
    }
    expect(leaps).toEqual([88]);
  });

  it('holds the same blocks at any instant as an engine that takes single steps', () => {
    const begun = () => {
      const test = new TestEngine({ kvGroups: { ...GROUPS, windowTokens: 13 } });
      test.submit('a', { promptTokens: 5, outputTokens: 60 });
      test.submit('b', { promptTokens: 30, outputTokens: 70 });
      test.step();
      return test;
    };
    const single = begun();
    const leaping = begun();
    while (leaping.engine.beginStep(leaping.nowUs) !== undefined) {
      const untilUs = leaping.engine.nextUs(Infinity);
      while (single.nowUs < untilUs) {
        const endUs = single.engine.beginStep(single.nowUs)!;
        leaping.engine.advanceTo(endUs);
        expect(leaping.engine.snapshot()).toEqual(single.engine.snapshot());
        single.endStep();
      }
      leaping.endStep();
    }
    expect(used(leaping)).toBe(0);
  });

  it('drafts without losing blocks', () => {
    const speculation = { tokens: 3, acceptanceRate: 0.7 };
    const test = new TestEngine({ kvGroups: GROUPS, speculation, numBlocks: 40, ...SMALL });
    for (const name of ['a', 'b', 'c']) test.submit(name, { promptTokens: 20, outputTokens: 40 });
    expect(test.runToRest().flatMap((told) => told.finished)).toHaveLength(3);
    expect(test.engine.snapshot().freeBlocks).toBe(40);
  });
});
