import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GivenAnswer } from './given-answer';
import { defaultTokenizer } from './tokenizers/named-tokenizers';
import type { OutputPlan, PlanInput } from './output-plan';
import { planOutput } from './plan-output';
import { constrain } from './structured/constrain';
import type { ToolOffer } from './tool-calls';
import { segmentText, visibleText } from './visible-text';

const tokenizer = defaultTokenizer();
const TEXT = 'The quick brown fox. It jumps over the lazy dog, naturally.';
const COUNT = tokenizer.encode(TEXT).length;

function planned(given: GivenAnswer, change: Partial<PlanInput> = {}): OutputPlan {
  return planOutput({
    tokenizer,
    promptIds: tokenizer.encode('Hello'),
    model: 'm',
    seed: 1,
    choice: 0,
    maxTokens: 500,
    minTokens: 0,
    ignoreEos: false,
    stop: [],
    stopTokenIds: [],
    includeStop: false,
    lengthModel: () => 20,
    answers: () => given,
    ...change,
  });
}

const shown = (plan: OutputPlan): string => visibleText(tokenizer, plan);

const object = { type: 'object' as const };
const OFFER: ToolOffer = {
  tools: ['weather', 'time'].map((name) => ({
    kind: 'function' as const,
    name,
    arguments: constrain({
      kind: 'arguments',
      schema: { ...object, properties: { city: { type: 'string' } }, required: ['city'] },
    }),
  })),
  isRequired: false,
  isParallel: true,
  callProbability: 1,
  extraCallProbability: 0,
};

describe('a given answer', () => {
  it('reaches the client unchanged, with the tokens that the tokenizer counts', () => {
    const plan = planned({ content: TEXT });
    expect(shown(plan)).toBe(TEXT);
    expect([...plan.tokenIds]).toEqual(tokenizer.encode(TEXT));
    expect([plan.endReason, plan.count]).toEqual(['stop', COUNT]);
  });

  it.each([1, 3, COUNT - 1, COUNT])(
    'is cut after %d tokens with the reason length',
    (maxTokens) => {
      const plan = planned({ content: TEXT }, { maxTokens });
      expect([plan.endReason, plan.count]).toEqual(['length', maxTokens]);
      expect(TEXT.startsWith(shown(plan))).toBe(true);
    },
  );

  it('shows no partial character where it is cut', () => {
    const content = 'Grüße 👩‍👩‍👧 und 你好世界 🦊';
    for (let maxTokens = 1; maxTokens <= 30; maxTokens++) {
      const text = shown(planned({ content }, { maxTokens }));
      expect(content.startsWith(text)).toBe(true);
    }
    expect(shown(planned({ content }))).toBe(content);
  });

  it('is repeated when the request needs more tokens', () => {
    const whole = planned({ content: TEXT }, { ignoreEos: true, maxTokens: 100 });
    expect([whole.count, whole.endReason]).toEqual([100, 'length']);
    expect(shown(whole).startsWith(`${TEXT}\n\n${TEXT}`)).toBe(true);
    const least = planned({ content: TEXT }, { minTokens: COUNT + 5 });
    expect([least.count, least.endReason]).toEqual([COUNT + 5, 'stop']);
  });

  it('ends at stop strings and stop tokens', () => {
    const plan = planned({ content: TEXT }, { stop: ['fox'] });
    expect([shown(plan), plan.stopReason]).toEqual(['The quick brown ', 'fox']);
    const kept = planned({ content: TEXT }, { stop: ['lazy'], includeStop: true });
    expect(shown(kept)).toBe('The quick brown fox. It jumps over the lazy');
    const [comma] = tokenizer.encode(',');
    const token = planned({ content: TEXT }, { stopTokenIds: [comma!] });
    expect([shown(token), token.stopReason]).toEqual([TEXT.slice(0, TEXT.indexOf(',')), comma]);
    const late = planned({ content: TEXT }, { stop: ['fox', 'dog'], minTokens: 6 });
    expect(late.stopReason).toBe('dog');
  });

  it('finds a stop string between characters of several tokens', () => {
    const plan = planned({ content: 'eins 🦊 zwei 🦊 drei' }, { stop: ['🦊 drei'] });
    expect(shown(plan)).toBe('eins 🦊 zwei ');
  });

  it('has no banned token, and only allowed ones', () => {
    const [fox] = tokenizer.encode(' fox');
    const banned = { bias: new Map([[fox!, -100]]), allowed: undefined, badWords: ['lazy'] };
    const text = shown(planned({ content: TEXT }, { steering: banned }));
    expect(text).not.toMatch(/fox|lazy/);
    expect(text).toContain('The quick brown');
    const allowed = { bias: new Map(), allowed: [fox!], badWords: [] };
    const plan = planned({ content: TEXT }, { steering: allowed });
    expect(new Set(plan.tokenIds)).toEqual(new Set([fox]));
  });

  it('that is empty is the end token alone, and shows no text', () => {
    const plan = planned({ content: '' });
    expect([shown(plan), plan.count, plan.endReason]).toEqual(['', 1, 'stop']);
    expect(shown(planned({ content: '' }, { ignoreEos: true, maxTokens: 9 }))).not.toBe('');
  });

  it('shows a prefix of itself, for any text and any limit', () => {
    const unit = fc.constantFrom(
      'a',
      'the ',
      '\n',
      '🦊',
      'é',
      '.',
      '<|im_end|>',
      '你',
      '\ud83d',
      ' b',
    );
    const text = fc.string({ unit, maxLength: 40, minLength: 1 });
    const stop = fc.array(fc.constantFrom('a', 'the', '🦊\n', '.é', 'zz'), { maxLength: 3 });
    const limits = fc.record({ maxTokens: fc.integer({ min: 1, max: 60 }), stop, text });
    fc.assert(
      fc.property(limits, ({ maxTokens, stop: strings, text: content }) => {
        const plan = planned({ content }, { maxTokens, stop: strings });
        const whole = tokenizer.decode(tokenizer.encode(content));
        const text = shown(plan);
        expect(whole.startsWith(text)).toBe(true);
        expect(plan.count).toBeLessThanOrEqual(maxTokens);
        expect(strings.some((one) => text.includes(one))).toBe(false);
        const isWhole = text === whole || plan.stopReason !== null;
        expect(isWhole || plan.endReason === 'length').toBe(true);
      }),
      { seed: 17, numRuns: 600 },
    );
  });

  it('depends only on its input', () => {
    expect(planned({ content: TEXT })).toEqual(planned({ content: TEXT }));
  });
});

describe('a given answer under a constraint', () => {
  const schema = { ...object, properties: { a: { type: 'integer' } }, required: ['a'] } as const;
  const constraint = constrain({ kind: 'schema', schema });

  it('is sent unchanged when it meets the constraint, past stop strings', () => {
    const plan = planned({ content: '{"a": 7}' }, { constraint, stop: ['}'] });
    expect([shown(plan), plan.endReason]).toEqual(['{"a": 7}', 'stop']);
  });

  it.each(['{"a": "x"}', 'no JSON', '', TEXT])('gives way to a simulated one for %j', (content) => {
    const text = shown(planned({ content }, { constraint }));
    expect(JSON.parse(text)).toEqual({ a: expect.any(Number) as number });
  });

  it('is sent unchanged with isAsWritten', () => {
    const plan = planned({ content: '{"a": "x"}', isAsWritten: true }, { constraint });
    expect(shown(plan)).toBe('{"a": "x"}');
  });

  it.each([
    [constrain({ kind: 'choice', choices: ['yes', 'no'] }), 'no', 'maybe'],
    [constrain({ kind: 'regex', pattern: '[a-c]+' }), 'abc', 'abd'],
    [constrain({ kind: 'object' }), '{"x": [1]}', '[1]'],
  ])('is checked against choices, patterns and objects', (one, good, bad) => {
    expect(shown(planned({ content: good }, { constraint: one }))).toBe(good);
    expect(shown(planned({ content: bad }, { constraint: one }))).not.toBe(bad);
  });
});

describe('given calls and reasoning', () => {
  const argumentsOf = (plan: OutputPlan): string[] =>
    (plan.segments ?? [])
      .filter(({ kind }) => kind === 'arguments')
      .map((segment) => segmentText(tokenizer, { plan, segment, count: plan.count }));

  it('have the given arguments', () => {
    const calls = [
      { name: 'weather', arguments: '{"city":"Rome"}' },
      { name: 'time', arguments: undefined },
    ];
    const plan = planned({ calls }, { tools: OFFER });
    const [given, simulated] = argumentsOf(plan);
    expect(given).toBe('{"city":"Rome"}');
    expect(JSON.parse(simulated!)).toEqual({ city: expect.any(String) as string });
  });

  it('get simulated arguments where the given miss the schema, except with isAsWritten', () => {
    const calls = [{ name: 'weather', arguments: '{"town":1}' }];
    expect(argumentsOf(planned({ calls }, { tools: OFFER }))).not.toEqual(['{"town":1}']);
    const plan = planned({ calls, isAsWritten: true }, { tools: OFFER });
    expect(argumentsOf(plan)).toEqual(['{"town":1}']);
  });

  it(
    'are limited to one without parallel calls, and to the tools that the request ' + 'offer',
    () => {
      const calls = ['time', 'weather'].map((name) => ({ name, arguments: '{"city":"x"}' }));
      const tools = { ...OFFER, isParallel: false };
      expect(argumentsOf(planned({ calls }, { tools }))).toHaveLength(1);
      const foreign = [{ name: 'other', arguments: '{}' }];
      const plan = planned({ calls: foreign, content: TEXT }, { tools: OFFER });
      expect([argumentsOf(plan), shown(plan)]).toEqual([[], TEXT]);
    },
  );

  it('leave the content where a call is optional, and yield to a required call', () => {
    expect(shown(planned({ content: TEXT }, { tools: OFFER }))).toBe(TEXT);
    const plan = planned({ content: TEXT }, { tools: { ...OFFER, isRequired: true } });
    expect([argumentsOf(plan).length, shown(plan)]).toEqual([1, '']);
  });

  it('come after the given reasoning, within its limit', () => {
    const reasoning = { lengthModel: () => 50, effort: 1, maxTokens: 4 };
    const plan = planned({ reasoning: TEXT, content: 'Yes.' }, { reasoning });
    const segment = plan.segments!.find(({ kind }) => kind === 'reasoning')!;
    const thought = segmentText(tokenizer, { plan, segment, count: plan.count });
    expect([thought, shown(plan)]).toEqual(['The quick brown fox', 'Yes.']);
  });
});
