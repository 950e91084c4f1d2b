import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tinyTokenizerJson, type TinyKind } from '../../test/tiny-tokenizer';
import { planOutput } from '../plan-output';
import { constrain } from '../structured/constrain';
import { visibleText } from '../visible-text';
import { readTokenizerJson } from './json-tokenizer';

describe.each<TinyKind>(['byte-level', 'sentencepiece'])('a tokenizer.json (%s)', (kind) => {
  const open = () => readTokenizerJson(tinyTokenizerJson(kind), 'tiny');

  it('encodes words as one token each and decodes any text back', async () => {
    const tokenizer = await open();
    expect(tokenizer.encode('the river')).toHaveLength(2);
    const unit = fc.constantFrom('a', 'river', ' ', 'é', '🦊', '\n', '.', '<|eot_id|>', '你');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it('lets no special token in through text, but those that are none', async () => {
    const tokenizer = await open();
    const eot = tokenizer.special.idOf('<|eot_id|>');
    expect(tokenizer.encode('<|eot_id|>')).not.toContain(eot);
    expect(tokenizer.encode('<extra>')).toHaveLength(1);
    expect(tokenizer.tokenText(eot)).toBe('<|eot_id|>');
    expect(eot).toBeLessThan(tokenizer.vocabSize);
  });

  it('gives markers of other models ids above its own', async () => {
    const tokenizer = await open();
    const foreign = tokenizer.special.idOf('<|im_start|>');
    expect(foreign).toBeGreaterThanOrEqual(tokenizer.vocabSize);
    expect([tokenizer.hasToken(foreign), tokenizer.tokenText(foreign)]).toEqual([
      true,
      '<|im_start|>',
    ]);
    expect(tokenizer.tokenText(tokenizer.special.endOfText)).toBe('<|end_of_text|>');
  });

  it('stops early', async () => {
    const tokenizer = await open();
    const text = 'the river '.repeat(5_000);
    expect(tokenizer.encode(text, 10)).toEqual(tokenizer.encode(text).slice(0, 11));
  });

  it.each(['sentences', 'random'] as const)(
    'counts simulated %s as a client would',
    async (words) => {
      const tokenizer = await open();
      for (let seed = 0; seed < 20; seed++) {
        const plan = planOutput({
          ...{ tokenizer, promptIds: tokenizer.encode('the'), model: 'm', seed, choice: 0 },
          ...{ maxTokens: 60, minTokens: 0, ignoreEos: true, includeStop: false, words },
          ...{ stop: [], stopTokenIds: [], lengthModel: () => 60 },
        });
        expect(tokenizer.encode(visibleText(tokenizer, plan))).toEqual([...plan.tokenIds]);
      }
    },
  );

  it('writes structured texts', async () => {
    const tokenizer = await open();
    const schema = {
      type: 'object',
      properties: { a: { enum: ['x é'] } },
      required: ['a'],
    } as const;
    const plan = planOutput({
      ...{
        tokenizer,
        promptIds: [1],
        model: 'm',
        seed: 1,
        choice: 0,
        maxTokens: 300,
        minTokens: 0,
      },
      ...{ ignoreEos: false, includeStop: false, stop: [], stopTokenIds: [] },
      ...{ lengthModel: () => 60, constraint: constrain({ kind: 'schema', schema }) },
    });
    expect(JSON.parse(visibleText(tokenizer, plan))).toMatchObject({ a: 'x é' });
  });
});

describe('a tokenizer.json that cannot be used', () => {
  const changed = (change: object): string =>
    JSON.stringify({ ...(JSON.parse(tinyTokenizerJson()) as object), ...change });

  it.each([
    ['{', 'it is not JSON'],
    ['null', 'it has no "model"'],
    ['{}', 'it has no "model"'],
    [changed({ model: { type: 'Unigram' } }), 'Unigram is not supported'],
    [changed({ decoder: { type: 'WordPiece' } }), 'neither ByteLevel nor'],
    [changed({ decoder: null }), 'neither ByteLevel nor'],
    [changed({ added_tokens: [{ id: -1, content: 'x', special: true }] }), '-1 is no id'],
  ])('%#: is refused in one sentence', async (content, sentence) => {
    await expect(readTokenizerJson(content, 'x')).rejects.toThrow(sentence);
  });
});
