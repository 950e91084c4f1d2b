import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { Speculation } from './speculation';
import { TestEngine } from '../test/test-engine';

type Options = ConstructorParameters<typeof TestEngine>[0];

/** Tokens of each step in which the sequence got some. */
function burstsOf(test: TestEngine, name: string): number[] {
  const bursts: number[] = [];
  for (let told = test.step(); told !== undefined; told = test.step()) {
    if (told.emitted.includes(name)) bursts.push(test.engine.tokensInStep(test.handle(name)));
  }
  return bursts;
}

function alone(options: Options, outputTokens: number): number[] {
  const test = new TestEngine(options);
  test.submit('a', { outputTokens });
  return burstsOf(test, 'a');
}

describe('speculative decoding', () => {
  it('gives one token per step when no draft is right, and all of them when every one is', () => {
    expect(alone({ speculation: { tokens: 3, acceptanceRate: 0 } }, 4)).toEqual([1, 1, 1, 1]);
    expect(alone({ speculation: { tokens: 3, acceptanceRate: 1 } }, 12)).toEqual([1, 4, 4, 3]);
  });

  it('draws the same bursts for a request in any batch', () => {
    const options = { speculation: { tokens: 4, acceptanceRate: 0.6 } };
    const expected = alone(options, 40);
    expect(new Set(expected).size).toBeGreaterThan(2);
    const test = new TestEngine(options);
    test.submit('other', { outputTokens: 50 });
    test.submit('a', { outputTokens: 40 });
    expect(burstsOf(test, 'a')).toEqual(expected);
  });

  it('draws other bursts for another seed or request', () => {
    const speculation = { tokens: 4, acceptanceRate: 0.6 };
    const first = alone({ speculation, seed: 1 }, 200);
    expect(alone({ speculation, seed: 2 }, 200)).not.toEqual(first);
    const test = new TestEngine({ speculation, seed: 1 });
    test.submit('b', { outputTokens: 200 });
    expect(burstsOf(test, 'b')).not.toEqual(first);
  });

  it('accepts the tokens of a draft with the given chance', () => {
    const speculation = new Speculation({ tokens: 3, acceptanceRate: 0.7 }, 1);
    const counts = [0, 0, 0, 0];
    const drafts = 40_000;
    for (let i = 0; i < drafts; i++) counts[speculation.accepted(i, 5 * i)]!++;
    const expected = [0.3, 0.7 * 0.3, 0.49 * 0.3, 0.343];
    expected.forEach((share, accepted) => {
      expect(Math.abs(counts[accepted]! / drafts - share)).toBeLessThan(0.01);
    });
  });

  it('counts drafts as vLLM does', () => {
    const test = new TestEngine({ speculation: { tokens: 3, acceptanceRate: 1 } });
    test.submit('a', { outputTokens: 7 });
    test.runToRest();
    expect(test.engine.counters).toMatchObject({
      drafts: 2,
      draftTokens: 6,
      acceptedTokens: 6,
      generatedTokens: 7,
      finished: 1,
    });
    expect(test.engine.acceptedPerPosition).toEqual([2, 2, 2]);
  });

  it('times a step by the tokens it verifies, and adds the time of drafting to each', () => {
    const stepTime: StepTimeModel = {
      description: 'verified tokens',
      stepUs: (b) => 1000 + 10 * b.prefillTokens + 100 * (b.draftTokens ?? 0) + b.decodeContext,
      decodeLaw: () => ({ baseUs: 1000, perContextUs: 1, contextLimit: Infinity }),
    };
    const speculation = { tokens: 2, acceptanceRate: 0, draftUs: 50 };
    const test = new TestEngine({ stepTime, speculation });
    test.submit('a', { outputTokens: 3 });
    expect(test.runToRest().map((told) => told.endUs)).toEqual([
      1130,
      1130 + 1259,
      1130 + 1259 + 1260,
    ]);
  });

  it('reserves its drafts in the token budget', () => {
    const speculation = { tokens: 3, acceptanceRate: 0 };
    const test = new TestEngine({ speculation, maxNumBatchedTokens: 10 });
    test.submit('a', { outputTokens: 9 });
    test.step();
    test.submit('b', { promptTokens: 12 });
    test.submit('c', { promptTokens: 4 });
    expect(test.step()?.endUs).toBe(1080 + 1000 + 10 * 6 + 9);
    expect(test.step()).toMatchObject({ firstTokens: ['b'], scheduled: [] });
  });

  it('needs blocks for its drafts, even past its end, as far as there are blocks', () => {
    const speculation = { tokens: 9, acceptanceRate: 0 };
    const test = new TestEngine({ speculation, numBlocks: 6 });
    test.submit('a', { promptTokens: 8, outputTokens: 17 });
    test.step();
    expect(test.engine.snapshot().freeBlocks).toBe(4);
    test.step();
    expect(test.engine.snapshot().freeBlocks).toBe(1);
    expect(test.runToRest().flatMap((told) => told.finished)).toEqual(['a']);
    expect(test.engine.counters.preemptions).toBe(0);
  });

  it('pads a sequence with a single token to compute to the size of the others', () => {
    const test = new TestEngine({ speculation: { tokens: 3, acceptanceRate: 0 } });
    test.submit('a', { outputTokens: 4 });
    test.step();
    test.submit('b', { promptTokens: 1, outputTokens: 2 });
    test.engine.beginStep(test.nowUs);
    expect(test.engine.queueState().batch.map(([, tokens]) => tokens)).toEqual([4, 4]);
  });

  it('takes each step by itself', () => {
    const test = new TestEngine({ speculation: { tokens: 2, acceptanceRate: 0.5 } });
    test.submit('a', { outputTokens: 40 });
    test.step();
    expect(test.step(Infinity)?.steps).toBe(1);
  });

  it('publishes the blocks that accepted tokens fill', () => {
    const test = new TestEngine({ speculation: { tokens: 3, acceptanceRate: 1 } });
    const blockHashes = [11, 12, 13, 14, 15];
    test.submit('a', { promptTokens: 8, outputTokens: 13, blockHashes });
    test.runToRest();
    test.submit('b', { promptTokens: 21, outputTokens: 1, blockHashes });
    test.step();
    expect(test.engine.cachedTokens(test.handle('b'))).toBe(20);
  });
});
