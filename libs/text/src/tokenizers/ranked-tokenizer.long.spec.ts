import fc from 'fast-check';
import { encode as encodeCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { encode as encodeP50k } from 'gpt-tokenizer/encoding/p50k_base';
import { encode as encodeR50k } from 'gpt-tokenizer/encoding/r50k_base';
import { describe, expect, it } from 'vitest';
import { defaultTokenizer, loadTokenizer } from './named-tokenizers';

const tokenizer = defaultTokenizer();
const oracle = (text: string): number[] => encode(text, { disallowedSpecial: new Set() });

describe('the o200k tokenizer', () => {
  it.each([
    'Hello world',
    "I'll say it's HERE, they've GONE'VE.",
    'line one\r\n\r\n  line two\t\tend   ',
    '北京市的天气很好，我们去散步吧。',
    'emoji 👩‍👩‍👧‍👦 ok \ud800 lone',
    '<|im_start|>system<|im_end|><|endoftext|>',
    '1234567 3.14159',
    'internationalisation ' + 'x'.repeat(500) + 'ab'.repeat(300),
    'https://example.org/a/b?c=d//\n\n//',
  ])('encodes %j like the reference', (text) => {
    expect(tokenizer.encode(text)).toEqual(oracle(text));
  });

  it('encodes every text like the reference, and decodes it back', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom('a', 'b', 'é', ' ', '\n', '.', 'Z', '7', '我'),
        maxLength: 300,
      }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const ids = tokenizer.encode(value);
        expect(ids).toEqual(oracle(value));
        expect(tokenizer.decode(ids)).toBe(value);
        expect(tokenizer.decode(new Int32Array(ids))).toBe(value);
      }),
      { numRuns: 400 },
    );
  });

  it('makes no special token from text', () => {
    for (const id of [199_999, 200_003, 200_004]) {
      const ids = tokenizer.encode(`a${tokenizer.tokenText(id)}b`);
      expect(ids.every((other) => other < 199_998)).toBe(true);
    }
  });

  it('stops one token past the limit', () => {
    expect(tokenizer.encode('one two three four', 2)).toHaveLength(3);
    expect(tokenizer.encode('one two', 2)).toHaveLength(2);
    expect(tokenizer.encode('abcdefgh'.repeat(1000), 10)).toHaveLength(11);
  });

  it.each([0, 3])('encodes a text of a megabyte as the reference does, after %i more', (more) => {
    const text = 'x'.repeat(more) + "It's 12345 o'clock.\n\n  \ud83c\udfc3 ".repeat(43_000);
    expect(text.length).toBeGreaterThan(1 << 20);
    expect(tokenizer.encode(text)).toEqual(oracle(text));
  });

  it('encodes one word of seven million characters', () => {
    expect(tokenizer.encode('\u00e9\u0344'.repeat(3_700_000), 10)).toHaveLength(11);
    const word = '\u00e9\ud801\udc00'.repeat(400_000);
    expect(tokenizer.decode(tokenizer.encode(word))).toBe(word);
  });

  it('encodes a word of one megabyte and decodes it back', () => {
    const ids = tokenizer.encode('ab'.repeat(500_000));
    expect(tokenizer.decode(ids)).toBe('ab'.repeat(500_000));
  });

  it('gives the bytes of a token that is part of a character', () => {
    const ids = tokenizer.encode('👩‍👩‍👧‍👦');
    expect(ids.flatMap((id) => tokenizer.tokenBytes(id))).toEqual([...Buffer.from('👩‍👩‍👧‍👦')]);
  });

  it('has no token outside its vocabulary', () => {
    expect(tokenizer.hasToken(tokenizer.vocabSize - 1)).toBe(true);
    expect(tokenizer.hasToken(tokenizer.vocabSize)).toBe(false);
    expect(tokenizer.hasToken(199_998)).toBe(false);
    expect(() => tokenizer.tokenText(300_000)).toThrow('not in the vocabulary');
  });
});

describe.each([
  ['cl100k', encodeCl100k],
  ['p50k', encodeP50k],
  ['r50k', encodeR50k],
] as const)('the %s tokenizer', (name, reference) => {
  it('encodes every text like the reference, and decodes it back', async () => {
    const named = await loadTokenizer(name);
    const unit = fc.constantFrom(
      ...['a', 'b', 'é', ' ', '  ', '\n', '\r\n', '.', "'s", "'LL", 'Z', '77', '我', '👩‍👧'],
    );
    const text = fc.oneof(fc.string({ unit, maxLength: 100 }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(text, (value) => {
        const ids = named.encode(value);
        expect(ids).toEqual(reference(value, { disallowedSpecial: new Set() }));
        expect(named.decode(ids)).toBe(value);
      }),
      { seed: 11, numRuns: 400 },
    );
  });

  it('has its own end of text, and ids for the markers of other models', async () => {
    const named = await loadTokenizer(name);
    const { special, vocabSize } = named;
    expect(special.endOfText).toBeLessThan(vocabSize);
    expect(special.idOf('<|eot_id|>')).toBeGreaterThanOrEqual(vocabSize);
    expect(named.decode([special.endOfText])).toBe('<|endoftext|>');
  });
});
