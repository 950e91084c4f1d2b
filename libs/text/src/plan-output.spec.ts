import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { defaultTokenizer } from './tokenizers/named-tokenizers';
import type { PlanInput } from './output-plan';
import { planOutput } from './plan-output';
import { visibleText } from './visible-text';

const tokenizer = defaultTokenizer();
const promptIds = Int32Array.from(tokenizer.encode('Tell me about the sea'));

function input(overrides: Partial<PlanInput> = {}): PlanInput {
  return {
    tokenizer,
    promptIds,
    model: 'm',
    seed: 1,
    choice: 0,
    maxTokens: 400,
    minTokens: 0,
    ignoreEos: false,
    stop: [],
    stopTokenIds: [],
    includeStop: false,
    lengthModel: (_seed, hash) => 1 + (hash % 300),
    ...overrides,
  };
}

const textOf = (overrides: Partial<PlanInput> = {}): string =>
  visibleText(tokenizer, planOutput(input(overrides)));

describe('planned output', () => {
  it('encodes back to its own tokens', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 700 }),
        fc.boolean(),
        (seed, maxTokens, ignoreEos) => {
          const prompt = seed % 2 === 0 ? promptIds : tokenizer.encode('A line.\n');
          const plan = planOutput(input({ seed, maxTokens, ignoreEos, promptIds: prompt }));
          expect(tokenizer.encode(tokenizer.decode(plan.tokenIds))).toEqual([...plan.tokenIds]);
          const joined = [...plan.tokenIds].map((id) => tokenizer.tokenText(id)).join('');
          expect(joined).toBe(visibleText(tokenizer, plan));
        },
      ),
      { numRuns: runsOf(1500) },
    );
  });

  it('depends on prompt, model, seed and choice', () => {
    const others = [
      { promptIds: [1, 2, 3] },
      { model: 'n' },
      { seed: 2 },
      { seed: -1 },
      { choice: 1 },
    ];
    const texts = [{}, ...others].map((other) =>
      textOf({ ...other, ignoreEos: true, maxTokens: 40 }),
    );
    expect(new Set(texts).size).toBe(texts.length);
    expect(textOf()).toBe(textOf());
  });

  it('is a prefix of the same tokens under a lower limit', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 300 }), (seed, maxTokens) => {
        const whole = planOutput(input({ seed, maxTokens: 600 })).tokenIds;
        const part = planOutput(input({ seed, maxTokens })).tokenIds;
        expect([...part]).toEqual([...whole.subarray(0, part.length)]);
      }),
      { numRuns: 200 },
    );
  });

  it('ends with stop at the length of its model, else with length at the limit', () => {
    const at = (lengthModel: () => number, more: Partial<PlanInput> = {}) => {
      const { count, endReason, stopReason } = planOutput(
        input({ lengthModel, maxTokens: 50, ...more }),
      );
      return { count, endReason, stopReason };
    };
    expect(at(() => 20)).toEqual({ count: 20, endReason: 'stop', stopReason: null });
    expect(at(() => 50)).toEqual({ count: 50, endReason: 'length', stopReason: null });
    expect(at(() => 500)).toEqual({ count: 50, endReason: 'length', stopReason: null });
    expect(at(() => 20, { ignoreEos: true })).toMatchObject({ count: 50, endReason: 'length' });
    expect(at(() => 20, { minTokens: 30 })).toMatchObject({ count: 30, endReason: 'stop' });
  });

  it('ends a complete text with a full stop and starts it with a capital', () => {
    for (let seed = 0; seed < 200; seed++) {
      const text = textOf({ seed, lengthModel: (s) => 2 + (s % 90) });
      expect(text).toMatch(/^ [A-Z][^]*[a-z]\.$/);
    }
  });

  it('puts no space before its first word after white space', () => {
    expect(textOf({ promptIds: tokenizer.encode('A line.\n') })).toMatch(/^[A-Z]/);
    expect(textOf({ promptIds: [tokenizer.special.idOf('<|im_end|>')] })).toMatch(/^[A-Z]/);
    expect(textOf({ promptIds: [] })).toMatch(/^[A-Z]/);
  });
});

describe('stop strings', () => {
  const full = textOf({ ignoreEos: true, maxTokens: 120 });
  const plain = planOutput(input({ ignoreEos: true, maxTokens: 120 }));

  it('end the sequence at the token that completes the earliest of them', () => {
    fc.assert(
      fc.property(
        fc.nat(full.length - 12),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        (at, size, includeStop) => {
          const stop = full.slice(at, at + size);
          const first = full.indexOf(stop);
          const plan = planOutput(
            input({ ignoreEos: true, maxTokens: 120, stop: [stop], includeStop }),
          );
          expect(plan).toMatchObject({ endReason: 'stop', stopReason: stop });
          expect(visibleText(tokenizer, plan)).toBe(
            full.slice(0, includeStop ? first + size : first),
          );
          const ends = plan.cut!.ends;
          expect(ends[plan.count - 1]).toBeGreaterThanOrEqual(first + size);
          expect(ends[plan.count - 2] ?? 0).toBeLessThan(first + size);
          expect([...plan.tokenIds]).toEqual([...plain.tokenIds.subarray(0, plan.count)]);
        },
      ),
      { numRuns: runsOf(400) },
    );
  });

  it('have no effect before min_tokens', () => {
    const plan = planOutput(input({ ignoreEos: true, maxTokens: 120, minTokens: 40, stop: [' '] }));
    expect(plan.count).toBe(41);
    expect(visibleText(tokenizer, plan)).toBe(full.slice(0, plan.cut!.ends[39]));
  });

  it('that do not occur leave the text whole', () => {
    const plan = planOutput(input({ ignoreEos: true, maxTokens: 120, stop: ['@@'] }));
    expect(plan).toMatchObject({ endReason: 'length', stopReason: null, count: 120 });
    expect(visibleText(tokenizer, plan)).toBe(full);
  });

  it('take precedence over the limit when both apply at one token', () => {
    const last = tokenizer.tokenText(plain.tokenIds[9]!);
    const plan = planOutput(input({ ignoreEos: true, maxTokens: 10, minTokens: 9, stop: [last] }));
    expect(plan).toMatchObject({ count: 10, endReason: 'stop', stopReason: last });
  });
});

describe('stop tokens', () => {
  const plain = planOutput(input({ ignoreEos: true, maxTokens: 60 }));
  const id = plain.tokenIds[30]!;
  const first = plain.tokenIds.indexOf(id);

  it('end the sequence, count, and stay out of the text', () => {
    const plan = planOutput(input({ ignoreEos: true, maxTokens: 60, stopTokenIds: [id] }));
    expect(plan).toMatchObject({ count: first + 1, endReason: 'stop', stopReason: id });
    expect(visibleText(tokenizer, plan)).toBe(tokenizer.decode(plain.tokenIds.subarray(0, first)));
  });

  it('are visible when the request includes the stop', () => {
    const plan = planOutput(
      input({ ignoreEos: true, maxTokens: 60, stopTokenIds: [id], includeStop: true }),
    );
    expect(visibleText(tokenizer, plan)).toBe(
      tokenizer.decode(plain.tokenIds.subarray(0, first + 1)),
    );
  });
});
