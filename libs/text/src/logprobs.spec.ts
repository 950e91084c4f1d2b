import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asciiJson, JsonFragments } from './json-fragment';
import { tokenLogprobs } from './logprobs';
import { defaultTokenizer } from './tokenizers/named-tokenizers';

const tokenizer = defaultTokenizer();

it('log-probabilities fall, sum to less than one and name distinct real tokens', () => {
  const id = fc.constantFrom(...tokenizer.encode(' the house of a year and many words.'));
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      fc.nat(10_000),
      id,
      fc.nat(20),
      (hash, index, token, alternatives) => {
        const list = tokenLogprobs(tokenizer, { hash, index, id: token }, alternatives);
        expect(list).toHaveLength(alternatives + 1);
        expect(list[0]!.id).toBe(token);
        expect(new Set(list.map((entry) => tokenizer.tokenText(entry.id))).size).toBe(list.length);
        expect(list.reduce((sum, entry) => sum + Math.exp(entry.logprob), 0)).toBeLessThan(1.00001);
        list.slice(1).forEach((entry, i) => expect(entry.logprob).toBeLessThan(list[i]!.logprob));
        expect(tokenLogprobs(tokenizer, { hash, index, id: token }, 0)).toEqual(list.slice(0, 1));
      },
    ),
    { numRuns: 500 },
  );
});

it('JSON fragments of tokens are ASCII and parse back to the token', () => {
  const fragments = JsonFragments.of(tokenizer);
  fc.assert(
    fc.property(fc.nat(199_997), (id) => {
      const fragment = fragments.get(id);
      expect(fragment).toMatch(/^[\x20-\x7f]*$/);
      expect(JSON.parse(`"${fragment}"`)).toBe(tokenizer.tokenText(id));
    }),
    { numRuns: 2000 },
  );
});

it('ASCII JSON parses back to the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(asciiJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
