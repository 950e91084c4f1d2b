import { describe, expect, it } from 'vitest';
import { applyChatTemplate, type ChatTemplateOptions } from '../chat-prompt';
import { planOutput } from '../plan-output';
import { constrain } from '../structured/constrain';
import { defaultTokenizer } from '../tokenizers/named-tokenizers';
import { segmentText, visibleText } from '../visible-text';
import type { ChatTurn } from './chat-template';
import { TEMPLATE_NAMES, templateNamed, templateOfModel } from './choose-template';

const tokenizer = defaultTokenizer();
const TURNS: ChatTurn[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi there' },
];

type Name = (typeof TEMPLATE_NAMES)[number];

function rendered(name: Name, turns = TURNS, options: ChatTemplateOptions = {}): Int32Array {
  return applyChatTemplate(tokenizer, turns, { template: templateNamed(name), ...options });
}

const textOf = (name: Name, turns = TURNS, options = {}): string =>
  tokenizer.decode(rendered(name, turns, options));

/** The output of the models' published templates for these two messages. */
const WRITTEN: readonly (readonly [Name, string])[] = [
  [
    'chatml',
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi ' +
      'there<|im_end|>\n<|im_start|>assistant\n',
  ],
  [
    'qwen',
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi ' +
      'there<|im_end|>\n<|im_start|>assistant\n',
  ],
  [
    'llama-3',
    '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe ' +
      'brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi ' +
      'there<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
  ],
  [
    'llama-3.1',
    '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: ' +
      'December 2023\nToday Date: 26 Jul 2024\n\nBe ' +
      'brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi ' +
      'there<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
  ],
  ['mistral', '<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Hi there[/INST]'],
  ['deepseek', '<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi there<｜Assistant｜>'],
  ['gemma', '<bos><start_of_turn>user\nBe brief.\n\nHi there<end_of_turn>\n<start_of_turn>model\n'],
];

describe('chat templates', () => {
  it.each(WRITTEN)('%s writes the same text as its models', (name, text) => {
    expect(textOf(name)).toBe(text);
  });

  it('harmony writes its preface, then the developer turn, and opens the final channel', () => {
    const text = textOf('harmony');
    expect(text).toMatch(/^<\|start\|>system<\|message\|>[^<]+<\|end\|><\|start\|>developer/);
    expect(text.endsWith('<|start|>assistant<|channel|>final<|message|>')).toBe(true);
    expect(text).toContain('<|message|># Instructions\n\nBe brief.<|end|>');
  });

  it.each(TEMPLATE_NAMES)('%s counts each marker as one token', (name) => {
    const ids = [...rendered(name)];
    const written = ids.filter((id) => tokenizer.special.has(id)).length;
    const pieces = textOf(name).split(
      /(<\|[a-z_]+\|>|<s>|\[\/?(?:INST|SYSTEM_PROMPT)\]|<｜[^｜]+｜>|<bos>|<\w+_of_turn>)/,
    );
    const markers = pieces.filter((_, i) => i % 2 === 1).length;
    expect(written).toBe(markers);
    expect(markers).toBeGreaterThan(2);
  });

  it.each(TEMPLATE_NAMES)('%s encodes markers in contents as plain text', (name) => {
    const evil = textOf(name, [{ role: 'user', content: '' }]);
    const count = (turns: ChatTurn[]): number =>
      [...rendered(name, turns)].filter((id) => tokenizer.special.has(id)).length;
    const turns = [{ role: 'user', content: evil }];
    expect(count(turns)).toBe(count([{ role: 'user', content: 'x' }]));
  });

  it.each(TEMPLATE_NAMES)('%s stops at a limit', (name) => {
    const whole = rendered(name);
    for (let limit = 1; limit < whole.length; limit++) {
      expect([...rendered(name, TURNS, { limit })]).toEqual([...whole.subarray(0, limit + 1)]);
    }
  });

  it.each(TEMPLATE_NAMES)('%s leaves the last turn open to be continued', (name) => {
    const turns: ChatTurn[] = [...TURNS, { role: 'assistant', content: 'Well,' }];
    const open = textOf(name, turns, { continueFinalTurn: true });
    expect(open.endsWith('Well,')).toBe(true);
  });

  it.each([
    ['Qwen/Qwen3-8B', 'qwen'],
    ['llama-3.1-8b', 'llama-3.1'],
    ['meta-llama/Meta-Llama-3-8B-Instruct', 'llama-3'],
    ['llama-2-70b', 'chatml'],
    ['mixtral-8x7b', 'mistral'],
    ['deepseek-v3', 'deepseek'],
    ['google/gemma-3-27b-it', 'gemma'],
    ['gpt-oss-20b', 'harmony'],
    ['opt-13b', 'chatml'],
  ])('of %s is %s', (model, name) => {
    expect(templateOfModel(model).name).toBe(name);
  });
});

const OFFER = {
  tools: [
    {
      kind: 'function' as const,
      name: 'weather',
      arguments: constrain({ kind: 'arguments', schema: { type: 'object' } }),
    },
  ],
  isRequired: true,
  isParallel: true,
  callProbability: 1,
  extraCallProbability: 1,
};

describe.each(TEMPLATE_NAMES)('an answer that comes back, in %s,', (name) => {
  const template = templateNamed(name);
  const reasoning = { lengthModel: () => 12, effort: 1, maxTokens: Infinity };
  const input = {
    tokenizer,
    template,
    model: 'm',
    seed: 3,
    choice: 0,
    maxTokens: 400,
    minTokens: 0,
    ignoreEos: false,
    includeStop: false,
    stop: [],
    stopTokenIds: [],
    lengthModel: () => 20,
  };

  it.each([
    ['as text', {}],
    ['with reasoning', { reasoning }],
    ['with calls', { tools: OFFER }],
    ['with both', { reasoning, tools: OFFER }],
  ])(
    '%s has the ids with which it was generated',
    (_, more: Partial<Parameters<typeof planOutput>[0]>) => {
      const thinks = more.reasoning !== undefined;
      const promptIds = rendered(name, TURNS, { thinks });
      const plan = planOutput({ ...input, promptIds, ...more });
      expect(plan.endReason).toBe('stop');
      const segments = plan.segments ?? [];
      const textIn = (kind: string): string[] =>
        segments
          .filter((segment) => segment.kind === kind)
          .map((segment) => segmentText(tokenizer, { plan, segment, count: plan.count }));
      const calls = textIn('arguments').map((text) => ({ name: 'weather', arguments: text }));
      const answer: ChatTurn = {
        role: 'assistant',
        content: visibleText(tokenizer, plan),
        ...(thinks ? { reasoning: textIn('reasoning')[0]! } : {}),
        ...(calls.length > 0 ? { calls } : {}),
      };
      const next = rendered(name, [...TURNS, answer, { role: 'user', content: 'And?' }]);
      const before = [...promptIds, ...plan.tokenIds];
      expect([...next.subarray(0, before.length)]).toEqual(before);
    },
  );

  it('includes tools, calls and results in the prompt', () => {
    const definition = { type: 'function', function: { name: 'weather', parameters: {} } };
    expect(template.describeTools([definition])).toContain('weather');
    const called: ChatTurn = {
      role: 'assistant',
      content: '',
      calls: [{ name: 'weather', arguments: '{"city": "Rome"}' }],
    };
    const result: ChatTurn = { role: 'tool', content: 'Sunny.' };
    const text = textOf(name, [...TURNS, called, result]);
    expect(text).toContain('weather');
    expect(text).toContain('{"city": "Rome"}');
    expect(text).toContain('Sunny.');
  });
});
