import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { TestEngine } from '../test/test-engine';

describe('prompts first', () => {
  it('lets decoding sequences wait while prompts are computed', () => {
    const test = new TestEngine({ promptsFirst: true });
    test.submit('old', { outputTokens: 4 });
    test.step();
    expect(test.step()!.emitted).toEqual(['old']);
    test.submit('new');
    const startUs = test.nowUs;
    const alone = test.step()!;
    expect(alone.firstTokens).toEqual(['new']);
    expect(alone.emitted).toEqual(['new']);
    expect(alone.endUs - startUs).toBe(1_000 + 10 * 8);
    expect(test.step()!.emitted.sort()).toEqual(['new', 'old']);
  });

  it('computes all prompts that wait before the first of them decodes', () => {
    const test = new TestEngine({ promptsFirst: true, maxNumBatchedTokens: 8 });
    for (const name of ['a', 'b', 'c']) test.submit(name);
    const told = Array.from({ length: 4 }, () => test.step()!);
    expect(told.map(({ firstTokens }) => firstTokens)).toEqual([['a'], ['b'], ['c'], []]);
    expect(told.map(({ emitted }) => emitted.length)).toEqual([1, 1, 1, 3]);
  });

  it('gives each sequence all of its tokens, ahead of a step or not, and loses no block', () => {
    const sequence = fc.record({
      promptTokens: fc.integer({ min: 1, max: 90 }),
      outputTokens: fc.integer({ min: 1, max: 40 }),
      gap: fc.integer({ min: 0, max: 4 }),
    });
    const sequences = fc.array(sequence, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sequences, fc.boolean(), (specs, asyncScheduling) => {
        const test = new TestEngine({ promptsFirst: true, asyncScheduling, numBlocks: 60 });
        specs.forEach(({ gap, ...spec }, i) => {
          for (let step = 0; step < gap; step++) test.step();
          test.submit(`s${i}`, spec);
          test.engine.audit();
        });
        test.runToRest();
        test.engine.audit();
        const { generatedTokens, finished } = test.engine.counters;
        expect(finished).toBe(specs.length);
        const wanted = specs.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
        expect(generatedTokens).toBe(wanted);
        expect(test.engine.snapshot().freeBlocks).toBe(60);
      }),
      { numRuns: runsOf(200) },
    );
  });

  it('refuses KV from elsewhere', () => {
    const test = new TestEngine({ promptsFirst: true });
    expect(() => test.submit('a', { mode: 'remote-prefill', remoteTokens: 8 })).toThrow(
      'KV comes from nowhere else',
    );
  });
});
