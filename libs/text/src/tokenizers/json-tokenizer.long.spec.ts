import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tinyTokenizerJson, type TinyKind } from '../../test/tiny-tokenizer';
import { planOutput } from '../plan-output';
import { constrain } from '../structured/constrain';
import { visibleText } from '../visible-text';
import { readTokenizerJson } from './json-tokenizer';

describe.each<TinyKind>(['byte-level', 'sentencepiece'])('a tokenizer.json (%s)', (kind) => {
  const open = () => readTokenizerJson(tinyTokenizerJson(kind), 'tiny');

  it('encodes words as one token each and decodes every text back', async () => {
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

  it('encodes special tokens in text as plain text, and added ones as ids', async () => {
    const tokenizer = await open();
    const eot = tokenizer.special.idOf('<|eot_id|>');
    expect(tokenizer.encode('<|eot_id|>')).not.toContain(eot);
    expect(tokenizer.encode('<extra>')).toHaveLength(1);
    expect(tokenizer.tokenText(eot)).toBe('<|eot_id|>');
    expect(eot).toBeLessThan(tokenizer.vocabSize);
  });

  it('gives markers of other models ids above those of the vocabulary', async () => {
    const tokenizer = await open();
    const foreign = tokenizer.special.idOf('<|im_start|>');
    expect(foreign).toBeGreaterThanOrEqual(tokenizer.vocabSize);
    expect([tokenizer.hasToken(foreign), tokenizer.tokenText(foreign)]).toEqual([
      true,
      '<|im_start|>',
    ]);
    expect(tokenizer.tokenText(tokenizer.special.endOfText)).toBe('<|end_of_text|>');
  });

  it('begins no text with a space, even when the file has a prefix step', async () => {
    const file = JSON.parse(tinyTokenizerJson(kind)) as Record<string, unknown>;
    const steps = [{ type: 'Prepend', prepend: '\u2581' }, file['normalizer']].filter(Boolean);
    const normalizer = kind === 'sentencepiece' ? { type: 'Sequence', normalizers: steps } : null;
    const before = file['pre_tokenizer'] as object | null;
    const pre_tokenizer = before && { ...before, add_prefix_space: true };
    const content = JSON.stringify({ ...file, normalizer, pre_tokenizer });
    const tokenizer = await readTokenizerJson(content, 'prefixed');
    expect(tokenizer.decode(tokenizer.encode('the river'))).toBe('the river');
  });

  it('encodes a long text in slices with the same result', async () => {
    const tokenizer = await open();
    const words = 'the green river keeps every small city, and 🦊 often moves again. ';
    const ids = tokenizer.encode(words.repeat(100));
    expect(tokenizer.decode(ids)).toBe(words.repeat(100));
    const [one, two] = [1, 2].map((times) => tokenizer.encode(words.repeat(times)).length);
    expect(ids).toHaveLength(one! + 99 * (two! - one!));
    const endless = 'river🦊'.repeat(1_000);
    expect(tokenizer.decode(tokenizer.encode(endless))).toBe(endless);
  });

  it('stops early', async () => {
    const tokenizer = await open();
    const text = 'the river '.repeat(5_000);
    expect(tokenizer.encode(text, 10)).toEqual(tokenizer.encode(text).slice(0, 11));
  });

  it.each(['sentences', 'random'] as const)(
    'counts simulated %s as a client does',
    async (words) => {
      const tokenizer = await open();
      for (let seed = 0; seed < 20; seed++) {
        const plan = planOutput({
          tokenizer,
          promptIds: tokenizer.encode('the'),
          model: 'm',
          seed,
          choice: 0,
          maxTokens: 60,
          minTokens: 0,
          ignoreEos: true,
          includeStop: false,
          words,
          stop: [],
          stopTokenIds: [],
          lengthModel: () => 60,
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
      tokenizer,
      promptIds: [1],
      model: 'm',
      seed: 1,
      choice: 0,
      maxTokens: 300,
      minTokens: 0,
      ignoreEos: false,
      includeStop: false,
      stop: [],
      stopTokenIds: [],
      lengthModel: () => 60,
      constraint: constrain({ kind: 'schema', schema }),
    });
    expect(JSON.parse(visibleText(tokenizer, plan))).toMatchObject({ a: 'x é' });
  });
});

describe('an unusable tokenizer.json', () => {
  const changed = (change: object): string =>
    JSON.stringify({ ...(JSON.parse(tinyTokenizerJson()) as object), ...change });

  it.each([
    ['{', 'it is not JSON'],
    ['null', 'it has no "model"'],
    ['{}', 'it has no "model"'],
    [changed({ model: { type: 'Unigram' } }), '"model.type" is Unigram, but only BPE'],
    [changed({ decoder: { type: 'WordPiece' } }), 'neither ByteLevel nor'],
    [changed({ decoder: null }), 'neither ByteLevel nor'],
    [changed({ added_tokens: [{ id: -1, content: 'x', special: true }] }), '-1 is not the id'],
  ])('%#: is refused in one sentence', async (content, sentence) => {
    await expect(readTokenizerJson(content, 'x')).rejects.toThrow(sentence);
  });
});
