import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const HASHES = [11, 12, 13, 14, 15, 16];

/** An engine that holds the four blocks of an earlier prompt of 16 tokens. */
function warm(options: ConstructorParameters<typeof TestEngine>[0] = {}): TestEngine {
  const test = new TestEngine(options);
  test.submit('first', { promptTokens: 16, outputTokens: 1, blockHashes: HASHES });
  test.runToRest();
  return test;
}

describe('a cache-hit threshold', () => {
  it('ends a sequence with too little cached, without computing anything', () => {
    const test = warm();
    const startUs = test.nowUs;
    const asked = { promptTokens: 20, blockHashes: HASHES };
    test.submit('too little', { ...asked, parameters: { cacheHitThreshold: 0.81 } });
    expect(test.step()).toMatchObject({
      endUs: startUs + 1,
      scheduled: [],
      emitted: [],
      finished: [],
      rejected: ['too little'],
    });
    expect(test.engine.cachedTokens(test.handle('too little'))).toBe(16);
    expect(test.engine.counters).toMatchObject({ rejected: 1, promptTokensComputed: 16 });
    expect(test.step()).toBeUndefined();
    expect(test.engine.hasWork()).toBe(false);

    test.submit('enough', { ...asked, parameters: { cacheHitThreshold: 0.8 } });
    expect(test.runToRest().flatMap((told) => told.finished)).toEqual(['enough']);
  });

  it('is met by exactly the share that it names', () => {
    for (const [promptTokens, threshold] of [
      [20, 0.8],
      [29, 16 / 29],
      [80, 0.2],
    ] as const) {
      const test = warm();
      test.submit('exact', {
        promptTokens,
        blockHashes: HASHES,
        parameters: { cacheHitThreshold: threshold },
      });
      expect(test.step()?.rejected).toEqual([]);
    }
  });

  it('of the engine applies to sequences without one, and 0 turns it off', () => {
    const test = new TestEngine({ globalCacheHitThreshold: 0.5 });
    test.submit('as the engine', {});
    test.submit('all the same', { parameters: { cacheHitThreshold: 0 } });
    expect(test.step()).toMatchObject({ rejected: ['as the engine'], scheduled: ['all the same'] });
  });

  it('costs the other sequences of the batch no time', () => {
    const lone = new TestEngine();
    const beside = new TestEngine();
    for (const test of [lone, beside]) test.submit('a', { outputTokens: 3 });
    beside.step();
    lone.step();
    beside.submit('b', { parameters: { cacheHitThreshold: 0.1 } });
    const told = beside.step(Infinity);
    expect(told).toMatchObject({ rejected: ['b'], emitted: ['a'], steps: 1 });
    expect(told?.endUs).toBe(lone.step()?.endUs);
  });

  it('does not apply to a prompt that others will fetch, nor to KV that arrives', () => {
    const test = new TestEngine({ globalCacheHitThreshold: 1 });
    test.submit('target', { mode: 'remote-prefill' });
    test.reserve();
    test.engine.kvArrived(test.handle('target'));
    test.submit('source', { mode: 'prefill-and-hold' });
    expect(test.step()).toMatchObject({ held: ['source'], firstTokens: ['target'], rejected: [] });
  });

  it('applies when KV did not arrive and would be computed here', () => {
    const test = new TestEngine();
    test.submit('target', { mode: 'remote-prefill', parameters: { cacheHitThreshold: 0.1 } });
    test.engine.kvFailed(test.handle('target'));
    expect(test.step()).toMatchObject({ rejected: ['target'] });
  });

  it('ends a preempted sequence with its tokens so far instead of computing it again', () => {
    const test = new TestEngine({ numBlocks: 6, enablePrefixCaching: false });
    test.submit('old', { outputTokens: 8 });
    test.step();
    test.submit('new', {
      outputTokens: 8,
      mode: 'remote-prefill',
      parameters: { cacheHitThreshold: 0.01 },
    });
    test.reserve();
    test.engine.kvArrived(test.handle('new'));
    const told = test.runToRest();
    expect(told.flatMap((each) => each.preempted)).toEqual(['new']);
    expect(told.flatMap((each) => each.rejected)).toEqual(['new']);
    expect(test.engine.tokensEmitted(test.handle('new'))).toBe(3);
  });
});
