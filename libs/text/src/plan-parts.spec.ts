import { describe, expect, it } from 'vitest';
import { applyChatTemplate } from './chat-prompt';
import { defaultTokenizer } from './tokenizers/named-tokenizers';
import type { OutputPlan, PlanInput } from './output-plan';
import { planOutput } from './plan-output';
import { constrain } from './structured/constrain';
import type { ToolOffer } from './tool-calls';
import { segmentText, visibleText } from './visible-text';

const tokenizer = defaultTokenizer();

function input(overrides: Partial<PlanInput> = {}): PlanInput {
  return {
    tokenizer,
    promptIds: tokenizer.encode('What is the weather?\n'),
    model: 'm',
    seed: 1,
    choice: 0,
    maxTokens: 400,
    minTokens: 0,
    ignoreEos: false,
    stop: [],
    stopTokenIds: [],
    includeStop: false,
    lengthModel: (_seed, hash) => 1 + (hash % 100),
    ...overrides,
  };
}

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);
const WEATHER = constrain({
  kind: 'schema',
  schema: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 3 }, days: { type: 'integer' } },
    required: ['city'],
  },
});
const offer = (more: Partial<ToolOffer> = {}): ToolOffer => ({
  tools: [
    { kind: 'function', name: 'weather', arguments: WEATHER },
    {
      kind: 'custom',
      name: 'clock',
      arguments: constrain({ kind: 'schema', schema: { type: 'object', properties: {} } }),
    },
  ],
  isRequired: true,
  isParallel: true,
  callProbability: 0.5,
  extraCallProbability: 0.4,
  ...more,
});
const reasoning = { lengthModel: () => 20, effort: 1, maxTokens: Infinity };

function partsOf(plan: OutputPlan, count = plan.count): [string, string][] {
  return (plan.segments ?? []).map((segment) => [
    segment.kind,
    segmentText(tokenizer, { plan, segment, count }),
  ]);
}

describe('a plan under a constraint', () => {
  it('is the whole text in its own tokens where it fits the limit', () => {
    for (const seed of SEEDS) {
      const plan = planOutput(input({ constraint: WEATHER, seed }));
      const text = visibleText(tokenizer, plan);
      expect(JSON.parse(text)).toHaveProperty('city');
      expect(tokenizer.encode(text)).toEqual([...plan.tokenIds]);
      expect(plan.endReason).toBe('stop');
    }
  });

  it('is shorter under a lower limit, and cut with length where no text fits', () => {
    for (const seed of SEEDS) {
      for (const maxTokens of [1, 3, 8, 12, 16, 24]) {
        const plan = planOutput(input({ constraint: WEATHER, seed, maxTokens }));
        const text = visibleText(tokenizer, plan);
        if (plan.endReason === 'stop') expect(JSON.parse(text)).toHaveProperty('city');
        else expect(plan.count).toBe(maxTokens);
        if (maxTokens >= 12) expect(plan.endReason).toBe('stop');
      }
    }
  });

  it('ignores stop strings, stop tokens and steering', () => {
    const stopTokenIds = tokenizer.encode('{"');
    const plain = planOutput(input({ constraint: WEATHER }));
    const stop = ['}', '{', '"'];
    expect(planOutput(input({ constraint: WEATHER, stop, stopTokenIds }))).toEqual(plain);
  });

  it('shows a character of several tokens with the last of them', () => {
    const text = 'é😀漢字\u{1F9FF}';
    const plan = planOutput(input({ constraint: constrain({ kind: 'choice', choices: [text] }) }));
    let before = '';
    for (let count = 1; count <= plan.count; count++) {
      const shown = visibleText(tokenizer, plan, count);
      expect(shown.startsWith(before)).toBe(true);
      expect(text.startsWith(shown)).toBe(true);
      expect(shown).not.toMatch(/[\ud800-\udfff]/u);
      before = shown;
    }
    expect(before).toBe(text);
    expect(tokenizer.decode(plan.tokenIds)).toBe(text);
  });

  it.each([1, 8])('whose text is empty is the end token alone, within %i tokens', (maxTokens) => {
    const nothing = constrain({ kind: 'choice', choices: [''] });
    const plan = planOutput(input({ constraint: nothing, maxTokens }));
    expect(plan).toMatchObject({ count: 1, endReason: 'stop' });
    expect(visibleText(tokenizer, plan)).toBe('');
  });

  it('grows towards min_tokens, as far as the constraint allows', () => {
    const constraint = constrain({
      kind: 'schema',
      schema: { type: 'array', items: { type: 'string' } },
    });
    for (const seed of SEEDS) {
      const few = planOutput(input({ constraint, seed })).count;
      expect(planOutput(input({ constraint, seed, minTokens: 60 })).count).toBeGreaterThanOrEqual(
        few,
      );
    }
  });
});

describe('a plan with functions', () => {
  it('calls one or several of them with arguments that fit', () => {
    const calls: string[][] = [];
    for (const seed of SEEDS) {
      const plan = planOutput(input({ tools: offer(), seed }));
      const parts = partsOf(plan);
      expect(parts.length % 3).toBe(0);
      for (const [kind, text] of parts) if (kind === 'arguments') JSON.parse(text);
      calls.push(plan.segments!.filter(({ kind }) => kind === 'call').map(({ name }) => name));
      expect(plan.endReason).toBe('stop');
      expect(visibleText(tokenizer, plan)).toBe('');
    }
    expect(new Set(calls.flat())).toEqual(new Set(['weather', 'clock']));
    expect(calls.some((names) => names.length > 1)).toBe(true);
    expect(calls.some((names) => names.length === 1)).toBe(true);
  });

  it('calls preferred functions before others', () => {
    for (const seed of SEEDS) {
      const tools = offer({ preferred: ['clock'] });
      const { segments } = planOutput(input({ tools, seed }));
      const names = segments!.filter(({ kind }) => kind === 'call').map(({ name }) => name);
      expect(new Set(names)).toEqual(new Set(['clock']));
    }
  });

  it('calls one at a time when several are not allowed', () => {
    for (const seed of SEEDS) {
      const tools = offer({ isParallel: false, extraCallProbability: 1 });
      expect(partsOf(planOutput(input({ tools, seed })))).toHaveLength(3);
    }
  });

  it('decides by the seed whether to call, with the given probability', () => {
    const share = (callProbability: number): number => {
      const tools = offer({ isRequired: false, callProbability });
      const plans = SEEDS.map((seed) => planOutput(input({ tools, seed })));
      return plans.filter((plan) => plan.segments![0]!.kind === 'call').length / SEEDS.length;
    };
    expect(share(0)).toBe(0);
    expect(share(1)).toBe(1);
    expect(Math.abs(share(0.5) - 0.5)).toBeLessThan(0.2);
  });

  it('cuts only the first call, with length, and leaves out further calls that do not fit', () => {
    for (const seed of SEEDS) {
      for (const maxTokens of [1, 5, 20, 30, 45, 60]) {
        const tools = offer({ extraCallProbability: 0.9 });
        const plan = planOutput(input({ tools, seed, maxTokens }));
        expect(plan.count).toBeLessThanOrEqual(maxTokens);
        if (plan.endReason === 'length') expect(plan.segments!.at(-1)!.call).toBe(0);
        else for (const [kind, text] of partsOf(plan)) if (kind === 'arguments') JSON.parse(text);
      }
    }
  });

  it('has the same tokens as the call in the prompt of the next turn', () => {
    const turns = [{ role: 'user', content: 'What time is it?' }];
    const promptIds = applyChatTemplate(tokenizer, turns);
    const plan = planOutput(input({ promptIds, tools: offer(), reasoning }));
    const texts = (wanted: string): string[] =>
      partsOf(plan).flatMap(([kind, text]) => (kind === wanted ? [text] : []));
    const names = plan.segments!.filter(({ kind }) => kind === 'call').map(({ name }) => name);
    const calls = texts('arguments').map((args, i) => {
      const name = names[i]!;
      return {
        name,
        arguments: args,
        kind: name === 'clock' ? ('custom' as const) : ('function' as const),
      };
    });
    const answer = { role: 'assistant', content: '', reasoning: texts('reasoning')[0]!, calls };
    const next = applyChatTemplate(tokenizer, [...turns, answer]);
    const before = [...promptIds, ...plan.tokenIds];
    expect([...next.subarray(0, before.length)]).toEqual(before);
  });
});

describe('a plan with reasoning', () => {
  it('has reasoning before the answer, within the limit of both', () => {
    for (const maxTokens of [5, 20, 22, 40]) {
      const plan = planOutput(input({ reasoning, maxTokens, ignoreEos: true }));
      expect(plan.count).toBe(maxTokens);
      expect(plan.endReason).toBe('length');
      const [first] = plan.segments!;
      expect([first?.kind, first?.to]).toEqual(['reasoning', Math.min(20, maxTokens)]);
      if (maxTokens === 40) expect(partsOf(plan).at(-1)?.[0]).toBe('content');
    }
  });

  it('has reasoning of the length that effort and budget give', () => {
    const lengthOf = (effort: number, maxTokens: number): number =>
      planOutput(input({ reasoning: { ...reasoning, effort, maxTokens } })).segments![0]!.to;
    expect(lengthOf(0.5, Infinity)).toBe(10);
    expect(lengthOf(4, Infinity)).toBe(80);
    expect(lengthOf(4, 7)).toBe(7);
  });

  it('applies stop strings to the content only', () => {
    const plan = planOutput(input({ reasoning, stop: [' '], ignoreEos: true }));
    expect(plan.stopReason).toBe(' ');
    expect(plan.endReason).toBe('stop');
    expect(partsOf(plan).map(([kind]) => kind)).toEqual(['reasoning', 'hidden', 'content']);
    expect(visibleText(tokenizer, plan)).not.toContain(' ');
  });

  it('can also have a constraint', () => {
    const plan = planOutput(input({ reasoning, constraint: WEATHER }));
    expect(JSON.parse(visibleText(tokenizer, plan))).toHaveProperty('city');
  });
});
