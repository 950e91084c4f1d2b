import { describe, expect, it } from 'vitest';
import { defaultTokenizer } from './tokenizers/named-tokenizers';
import type { PlanInput } from './output-plan';
import { planOutput } from './plan-output';
import type { Steering } from './steered-tokens';
import { visibleText } from './visible-text';

const tokenizer = defaultTokenizer();
const [ocean] = tokenizer.encode(' ocean');
const [the] = tokenizer.encode(' The');

function input(steering: Partial<Steering>, more: Partial<PlanInput> = {}): PlanInput {
  return {
    tokenizer,
    promptIds: tokenizer.encode('Go on.'),
    model: 'm',
    seed: 1,
    choice: 0,
    maxTokens: 300,
    minTokens: 0,
    ignoreEos: true,
    stop: [],
    stopTokenIds: [],
    includeStop: false,
    lengthModel: () => 50,
    steering: { bias: new Map(), allowed: undefined, badWords: [], ...steering },
    ...more,
  };
}

const idsOf = (steering: Partial<Steering>, more: Partial<PlanInput> = {}): number[] => [
  ...planOutput(input(steering, more)).tokenIds,
];
const shareOf = (id: number, ids: readonly number[]): number =>
  ids.filter((one) => one === id).length / ids.length;

describe('steering', () => {
  it('bans a token at -100, and writes no other token at 100', () => {
    const { steering: _none, ...rest } = input({});
    const plain = [...planOutput(rest).tokenIds];
    expect(shareOf(the!, plain)).toBeGreaterThanOrEqual(0);
    const common = mostCommon(plain);
    expect(idsOf({ bias: new Map([[common, -100]]) })).not.toContain(common);
    expect(new Set(idsOf({ bias: new Map([[ocean!, 100]]) }))).toEqual(new Set([ocean]));
  });

  it('makes a token likelier or rarer in between', () => {
    const at = (bias: number): number =>
      shareOf(ocean!, idsOf({ bias: new Map([[ocean!, bias]]) }));
    expect(at(1)).toBeLessThan(0.02);
    expect(at(12)).toBeGreaterThan(0.2);
    expect(at(20)).toBeGreaterThan(0.95);
    const plain = idsOf({});
    const common = mostCommon(plain);
    const rarer = shareOf(common, idsOf({ bias: new Map([[common, -1]]) }));
    expect(rarer).toBeLessThan(shareOf(common, plain));
  });

  it('writes only allowed tokens, except when all of them are banned', () => {
    const allowed = tokenizer.encode(' one two three');
    expect(new Set(idsOf({ allowed }))).toEqual(new Set(allowed));
    const bias = new Map([[allowed[0]!, -100]]);
    expect(new Set(idsOf({ allowed, bias }))).toEqual(new Set(allowed.slice(1)));
  });

  it.each(['the', ' of', 'a', '. ', '.', 'e', 'ing the'])(
    'never writes the bad word %j',
    (word) => {
      for (let seed = 0; seed < 20; seed++) {
        const plan = planOutput(input({ badWords: [word] }, { seed }));
        expect(visibleText(tokenizer, plan)).not.toContain(word);
        expect(plan.count).toBe(300);
      }
    },
  );

  it('applies together with stop strings', () => {
    const plan = planOutput(input({ badWords: ['e'] }, { stop: ['a'] }));
    expect(visibleText(tokenizer, plan)).not.toMatch(/[ea]/);
    expect(plan.stopReason).toBe('a');
  });

  it('shows the same text in pieces as whole when tokens are parts of characters', () => {
    const allowed = tokenizer.encode('🧿').slice(0, 1);
    const plan = planOutput(input({ allowed }, { maxTokens: 5 }));
    const [text = ''] = [visibleText(tokenizer, plan)];
    for (let count = 0; count <= 5; count++) {
      expect(text.startsWith(visibleText(tokenizer, plan, count))).toBe(true);
    }
  });
});

function mostCommon(ids: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]![0];
}
