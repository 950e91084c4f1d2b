import { KvPool, KvPoolMember, type KvPoolTerms } from '@baton/kvcache';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

const HASHES = [11, 12, 13, 14, 15, 16];
/** A block of 4 tokens takes 5 µs from the engine's own node; computing one takes 40 µs. */
const hostTier = { blocks: 8, bytesPerSecond: 1e8, bytesPerBlock: 500 };
/** 10 µs from another node, plus 20 µs per node. */
const TERMS: KvPoolTerms = {
  blocks: 8,
  bytesPerBlock: 500,
  bytesPerSecond: 5e7,
  latencyUs: 20,
  balancingThreshold: 1,
  replicas: 0,
};
const A = { promptTokens: 14, outputTokens: 1, blockHashes: HASHES };

type Options = ConstructorParameters<typeof TestEngine>[0];

/** Two engines of one pool; the first has computed `a`, three full blocks long. */
function twoEngines(terms: Partial<KvPoolTerms> = {}, options: Options = {}) {
  const pool = new KvPool();
  const members = [0, 1].map((node) => new KvPoolMember({ ...TERMS, ...terms }, pool, node));
  const engines = members.map((kvPool) => new TestEngine({ hostTier, kvPool, ...options }));
  const [first, second] = engines as [TestEngine, TestEngine];
  first.submit('a', A);
  first.runToRest();
  second.nowUs = first.nowUs;
  return { members, first, second };
}

describe('an engine in a KV pool', () => {
  it.each([false, true])(
    'fetches blocks that another engine computed (async: %s)',
    (asyncScheduling) => {
      const { first, second, members } = twoEngines({}, { asyncScheduling });
      expect(first.engine.counters.promptTokensComputed).toBe(14);
      const startUs = second.nowUs;
      second.submit('a', A);
      // Three blocks from one node, then the two tokens of the fourth.
      expect(second.step()?.endUs).toBe(startUs + 1000 + 10 * 2 + 20 + 3 * 10);
      second.runToRest();
      expect(second.engine.counters).toMatchObject({
        promptTokensComputed: 2,
        promptTokensCached: 12,
        promptTokensFetched: 12,
        promptTokensLoadedFromHost: 0,
      });
      expect(members[1]!.counters).toMatchObject({ fetched: 3, fetchUs: 50, declined: 0 });
    },
  );

  it('stores a block only when its step has ended', () => {
    const { second, members } = twoEngines();
    second.submit('b', { promptTokens: 9, blockHashes: [21, 22] });
    second.engine.beginStep(second.nowUs);
    expect(members[1]!.contents()).toEqual([]);
    second.engine.endStep();
    expect(members[1]!.contents()).toEqual([22, 21]);
  });

  it('keeps fetched blocks, and later loads them from its own node', () => {
    const { second, members } = twoEngines({}, { numBlocks: 4 });
    second.submit('a', A);
    second.runToRest();
    expect(members[1]!.contents()).toEqual([13, 12, 11]);
    second.submit('large', { promptTokens: 16, outputTokens: 1 });
    second.runToRest();
    const startUs = second.nowUs;
    second.submit('again', A);
    expect(second.step()?.endUs).toBe(startUs + 1000 + 10 * 2 + 3 * 5);
    expect(second.engine.counters.promptTokensLoadedFromHost).toBe(12);
  });

  it('also stores generated tokens', () => {
    const { first, second } = twoEngines();
    first.submit('turn', { promptTokens: 14, outputTokens: 7, blockHashes: HASHES });
    first.runToRest();
    second.nowUs = first.nowUs;
    second.submit('next', { promptTokens: 22, outputTokens: 1, blockHashes: HASHES });
    second.runToRest();
    expect(second.engine.counters.promptTokensFetched).toBe(20);
  });

  it('computes when fetching takes longer', () => {
    const { second, members } = twoEngines({ latencyUs: 200 });
    const startUs = second.nowUs;
    second.submit('a', A);
    expect(second.step()?.endUs).toBe(startUs + 1000 + 10 * 14);
    expect(second.engine.counters.promptTokensFetched).toBe(0);
    expect(members[1]!.counters).toMatchObject({ fetched: 0, declined: 1 });
  });

  it('computes below the balancing threshold', () => {
    const { second } = twoEngines({ balancingThreshold: 3.5 });
    second.submit('head', { promptTokens: 5, outputTokens: 1, blockHashes: HASHES });
    second.runToRest();
    second.submit('a', A);
    second.runToRest();
    // It fetched the head when it had nothing; now 3 blocks are less than 3.5 times 1.
    expect(second.engine.counters).toMatchObject({ promptTokensFetched: 4, promptTokensCached: 8 });
  });

  it('fetches nothing beside a hand-over', () => {
    const { second } = twoEngines();
    second.submit('a', { ...A, mode: 'remote-prefill' });
    expect(second.reserve()).toBe('a lacks 14');
  });

  it('clears its memory with the prefix cache', () => {
    const { first, second, members } = twoEngines();
    expect(first.engine.resetPrefixCache(false)).toBe(true);
    expect(members[0]!.size).toBe(3);
    expect(first.engine.resetPrefixCache(true)).toBe(true);
    second.submit('a', A);
    second.runToRest();
    expect(second.engine.counters.promptTokensFetched).toBe(0);
  });
});
