import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const HASHES = [11, 12, 13, 14, 15, 16];
/** A block takes 500 µs to load. */
const hostTier = { blocks: 8, bytesPerSecond: 1e6, bytesPerBlock: 500 };
const A = { promptTokens: 12, outputTokens: 1, blockHashes: HASHES };

/**
 * An engine of 4 blocks in which `a`, three blocks long, has run and was evicted by another that
 * fills all of them.
 */
function afterEviction(options: ConstructorParameters<typeof TestEngine>[0] = {}): TestEngine {
  const test = new TestEngine({ numBlocks: 4, hostTier, ...options });
  test.submit('a', A);
  test.step();
  test.submit('large', { promptTokens: 16, outputTokens: 1 });
  test.step();
  return test;
}

describe('a tier of host memory', () => {
  it('keeps the blocks that the GPU evicts, and drops the tail of a prompt first', () => {
    expect(afterEviction().engine.cacheState()).toMatchObject({
      contents: [],
      hostContents: [13, 12, 11],
    });
    const small = afterEviction({ hostTier: { ...hostTier, blocks: 2 } });
    expect(small.engine.cacheState().hostContents).toEqual([12, 11]);
  });

  it('loads the tokens that it holds, in place of their computation', () => {
    const test = afterEviction();
    const startUs = test.nowUs;
    test.submit('again', A);
    const told = test.step();
    expect(told?.endUs).toBe(startUs + 1000 + 10 * 4 + 2 * 500);
    expect(test.engine.cachedTokens(test.handle('again'))).toBe(8);
    expect(test.engine.counters).toMatchObject({
      promptTokensComputed: 12 + 16 + 4,
      promptTokensCached: 8,
      promptTokensLoadedFromHost: 8,
    });
    expect(test.engine.cacheState().contents).toEqual([11, 12, 13]);
  });

  it('is looked up after the blocks that the GPU holds', () => {
    const test = new TestEngine({ numBlocks: 4, hostTier });
    test.submit('a', { ...A, promptTokens: 13 });
    test.step();
    test.submit('small', { promptTokens: 8, outputTokens: 1 });
    test.step();
    expect(test.engine.cacheState()).toMatchObject({ contents: [11, 12], hostContents: [13] });
    const startUs = test.nowUs;
    test.submit('again', { ...A, promptTokens: 13 });
    expect(test.step()?.endUs).toBe(startUs + 1000 + 13 + 500);
    expect(test.engine.counters).toMatchObject({
      promptTokensCached: 12,
      promptTokensLoadedFromHost: 4,
    });
  });

  it('loads the blocks that it holds in place of their transfer, in the step that admits the sequence', () => {
    const test = afterEviction();
    test.submit('remote', { ...A, promptTokens: 14, mode: 'remote-prefill' });
    expect(test.reserve()).toBe('remote lacks 2');
    const startUs = test.nowUs;
    test.engine.kvArrived(test.handle('remote'));
    expect(test.step()?.endUs).toBe(startUs + 1000 + 14 + 3 * 500);
    expect(test.engine.counters).toMatchObject({
      promptTokensCached: 12,
      promptTokensLoadedFromHost: 12,
      promptTokensTransferred: 2,
    });
  });

  it('drops its pending load when a reservation fails', () => {
    const test = afterEviction({ enablePrefixCaching: true });
    test.submit('remote', { ...A, mode: 'remote-prefill' });
    expect(test.reserve()).toBe('remote lacks 4');
    test.engine.abort(test.handle('remote'));
    const startUs = test.nowUs;
    test.submit('other', { promptTokens: 4, outputTokens: 1 });
    expect(test.step()?.endUs).toBe(startUs + 1000 + 10 * 4);
    expect(test.engine.counters.promptTokensLoadedFromHost).toBe(0);
  });

  it('does not exist by default', () => {
    const { hostTier: _tier, ...without } = { hostTier, numBlocks: 4 };
    const test = new TestEngine(without);
    test.submit('a', A);
    test.step();
    test.submit('large', { promptTokens: 16, outputTokens: 1 });
    test.step();
    test.submit('again', A);
    test.step();
    expect(test.engine.counters).toMatchObject({
      promptTokensCached: 0,
      promptTokensLoadedFromHost: 0,
    });
  });
});
