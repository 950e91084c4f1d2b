import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../../test/support/runs';
import { Pattern } from './pattern';
import { RegexError } from './regex-error';
import { StringLanguage } from './string-language';

const PATTERNS = [
  '^[A-Z]{3}-\\d{4}$',
  '^(\\d{3})?-?\\d{4}$',
  'foo|bar',
  '^a|b$',
  '^(?:[a-z0-9]+(?:-[a-z0-9]+)*)$',
  '^\\p{Lu}\\p{Ll}+$',
  '[^a-z\\s]',
  '^.{3,7}$',
  '^$',
  '',
  '\\bcat\\b',
  '^\\w+\\B\\w+$',
  '^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$',
  '^#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})$',
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$',
  '^(a+)+$',
  '^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{8,12}$',
  '^(?!.*\\.\\.)[a-z.]{4,9}$',
  '(^((?=.*b))(?:[a-c]{3,5})$)',
  '^\\u00e9[\\u{1F600}-\\u{1F64F}]$',
  '^[^\\n]$',
  '^\\S+\\s\\S+$',
  '(a|ab)(c|bcd)(d*)',
  '^x{300}$',
  '^[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?$',
];

function sampleOf(source: string, seed: number, more: Partial<SampleBounds> = {}) {
  const { must, mustNot } = new Pattern(source).demands(more.scope ?? 'whole');
  const bounds = { minLength: 0, maxLength: Infinity, ...more };
  const language = new StringLanguage({ must, mustNot, ...bounds });
  return language.sample(RandomStream.root(seed), more.slack ?? 8);
}

interface SampleBounds {
  readonly scope: 'whole' | 'anywhere';
  readonly minLength: number;
  readonly maxLength: number;
  readonly slack: number;
}

describe('a sample of a pattern', () => {
  it.each(PATTERNS)('%s matches in ECMAScript', (source) => {
    const regex = new RegExp(source, 'u');
    for (let seed = 0; seed < 100; seed++) {
      expect(sampleOf(source, seed)).toMatch(regex);
      expect(sampleOf(source, seed, { scope: 'anywhere' })).toMatch(regex);
    }
  });

  it.each(PATTERNS)('%s has a length within its bounds, or does not exist', (source) => {
    const regex = new RegExp(source, 'u');
    let found = 0;
    for (let seed = 0; seed < 40; seed++) {
      const minLength = seed % 12;
      const maxLength = minLength + (seed % 3);
      const text = sampleOf(source, seed, { scope: 'anywhere', minLength, maxLength });
      if (text === undefined) continue;
      found += 1;
      expect(text).toMatch(regex);
      expect([...text].length).toBeGreaterThanOrEqual(minLength);
      expect([...text].length).toBeLessThanOrEqual(maxLength);
    }
    expect(found > 0 || /300|u00e9|^\^\$$|^\^\[\^|8,12/.test(source)).toBe(true);
  });

  it('depends only on the seed, and differs between seeds', () => {
    expect(sampleOf('^[a-z]{12}$', 3)).toBe(sampleOf('^[a-z]{12}$', 3));
    expect(sampleOf('^[a-z]{12}$', 3)).not.toBe(sampleOf('^[a-z]{12}$', 4));
  });

  it('does not exist when patterns exclude each other', () => {
    const demands = ['^a+$', '^b+$'].map((source) => new Pattern(source).demands('anywhere'));
    const must = demands.flatMap((one) => one.must);
    const language = new StringLanguage({ must, mustNot: [], minLength: 0, maxLength: 9 });
    expect(language.sample(RandomStream.root(1), 5)).toBeUndefined();
    expect(sampleOf('^(ab)*$', 1, { minLength: 3, maxLength: 3 })).toBeUndefined();
    expect(sampleOf('^[^]{5,}$', 1, { maxLength: 4 })).toBeUndefined();
  });

  it('fulfils several patterns at once', () => {
    const sources = ['^[a-c]+$', 'a', 'b', '^(..)*$'];
    const must = sources.flatMap((source) => new Pattern(source).demands('anywhere').must);
    const language = new StringLanguage({ must, mustNot: [], minLength: 4, maxLength: 4 });
    for (let seed = 0; seed < 50; seed++) {
      const text = language.sample(RandomStream.root(seed), 0);
      for (const source of sources) expect(text).toMatch(new RegExp(source, 'u'));
    }
  });
});

describe('a pattern whose tables would be too large', () => {
  const [endless] = new Pattern('[\\s\\S]{5000}').demands('anywhere').must;
  const bounds = { must: [endless!], mustNot: [], maxLength: Infinity };

  it('still gives texts of its shortest length', () => {
    const language = new StringLanguage({ ...bounds, minLength: 0 });
    expect(language.shortest).toBe(5_000);
    expect(language.sample(RandomStream.root(1), 24)).toHaveLength(5_000);
  });

  it('is refused at once when its texts must be longer', () => {
    expect(() => new StringLanguage({ ...bounds, minLength: 6_000 })).toThrow(RegexError);
  });
});

const MOST_LOOPS = 5;

describe('matching', () => {
  it('agrees with ECMAScript on random patterns and texts', () => {
    const leaf = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\b', '^', '$', 'c');
    const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
      atom: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie('pattern').map((inner) => `(?:${inner})`),
      ),
      pattern: fc
        .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,2}', '|')), {
          maxLength: 4,
        })
        .map((parts) =>
          parts
            .map(([atom, mark]) =>
              /^(\\b|\^|\$)$/.test(atom) && mark !== '|' ? atom : atom + mark,
            )
            .join(''),
        ),
    }));
    fc.assert(
      fc.property(pattern, fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\n')), (source, parts) => {
        // ECMAScript tries every path through nested loops.
        fc.pre((source.match(/[*+]/g)?.length ?? 0) <= MOST_LOOPS);
        const text = parts.join('');
        const own = new Pattern(source);
        expect(own.matches(text, 'anywhere')).toBe(new RegExp(source, 'u').test(text));
        const whole = new RegExp(`^(?:${source})$`, 'u').test(text);
        expect(own.matches(text, 'whole')).toBe(whole);
      }),
      { numRuns: runsOf(3000) },
    );
  });

  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(x+x+)+y', '^(.*a){12}$', '(.*)*(.*)*(.*)*$z'])(
    '%s takes linear time on a long text that does not match',
    (source) => {
      expect(new Pattern(source).matches('a'.repeat(20_000) + '!', 'whole')).toBe(false);
    },
  );
});

describe('syntax of Python and Rust', () => {
  it.each([
    ['(?P<year>\\d{4})-(?<month>\\d\\d)', '^\\d{4}-\\d\\d$'],
    ['\\Aab\\Z|\\Acd\\z', '^(?:ab|cd)$'],
    ['(?>ab|a)c', '^(?:ab|a)c$'],
    ['a++b*+c?+', '^a+b*c?$'],
    ['a{,2}b', '^a{0,2}b$'],
    ['{a}{1}]}', '^\\{a\\}{1}\\]\\}$'],
    ['[[:alpha:][:digit:]_-]+', '^[A-Za-z0-9_\\-]+$'],
    ['[\\w-z]{2}[a-\\d]', '^[\\w\\-z]{2}[a\\-\\d]$'],
    ['\\-\\_\\"\\/', '^-_"/$'],
    ['\\pL\\PL', '^\\p{L}\\P{L}$'],
    ['\\ud83d\\ude00', '^😀$'],
    ['(?i:a)b', '^[aA]b$'],
    ['a(?i)b|(?-i:c)d', '^(?:a[bB]|c[dD])$'],
    ['(?s:.).', '^[^].$'],
    ['(?i)[^a]', '^[^aA]$'],
  ])('%s has the texts of %s', (source, same) => {
    const regex = new RegExp(same, 'u');
    const pattern = new Pattern(source);
    for (let seed = 0; seed < 50; seed++) expect(sampleOf(source, seed)).toMatch(regex);
    const texts = fc.string({ unit: fc.constantFrom(...'abcdABCD{}[]-_"/19 \n😀é'), maxLength: 4 });
    fc.assert(
      fc.property(texts, (text) => {
        expect(pattern.matches(text, 'whole')).toBe(regex.test(text));
      }),
      { numRuns: runsOf(300) },
    );
  });
});

describe('a pattern that is refused', () => {
  it.each([
    { source: '(', message: 'unterminated group at offset 1' },
    { source: ')', message: "unmatched ')' at offset 0" },
    { source: '[a', message: "missing ']' at offset 0" },
    { source: '*a', message: 'nothing to repeat at offset 1' },
    { source: 'a{3,1}', message: 'numbers out of order in {} quantifier at offset 6' },
    { source: '[z-a]', message: 'range out of order in character class at offset 0' },
    { source: '{1'.repeat(5_000) + '['.repeat(5_000), message: "missing ']' at offset 10000" },
    { source: 'a\\x4', message: 'invalid character escape at offset 1' },
    { source: '[[:vowel:]]', message: 'unknown class name at offset 0' },
    { source: '(?m)^a', message: 'the flag m is not supported at offset 0' },
    { source: 'a*+?', message: 'multiple repeat at offset 3' },
    { source: '(a)\\1', message: 'backreferences are not supported at offset 3' },
    { source: '(?<=a)b', message: 'lookbehinds are not supported at offset 0' },
    {
      source: 'a(?=b)c',
      message: 'lookaheads are supported at the start of a pattern only',
    },
    {
      source: '((a{99}){99}){99}',
      message: 'the pattern is too large: its counted repetitions multiply',
    },
    { source: '('.repeat(200), message: 'the pattern is nested too deeply' },
    { source: '\\p{Nonsense}', message: 'invalid property name at offset 0' },
    { source: 'a'.repeat(20_001), message: 'the pattern is longer than 20000 characters' },
  ])('gives the reason: $message', ({ source, message }) => {
    expect(() => new Pattern(source).demands('whole')).toThrow(new RegexError(message));
  });
});
