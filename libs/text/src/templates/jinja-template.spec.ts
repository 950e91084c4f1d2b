import { WorkExceeded, withinWork } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { CHATML_JINJA, LLAMA_JINJA, MISTRAL_JINJA } from '../../test/jinja-templates';
import { defaultTokenizer } from '../tokenizers/named-tokenizers';
import {
  ChatTemplateError,
  type Conversation,
  JinjaTemplate,
  placeholder,
  type TemplateMessage,
} from './jinja-template';

const tokenizer = defaultTokenizer();
const SPECIAL = { bos_token: '<s>', eos_token: '</s>' };
const USER = { role: 'user', content: 'Hi' };
const SYSTEM = { role: 'system', content: 'Be brief.' };

function templateOf(source: string): JinjaTemplate {
  return new JinjaTemplate(source, { specialTokens: SPECIAL, strftimeNow: (format) => format });
}

function rendered(
  source: string,
  messages: readonly TemplateMessage[],
  more: Partial<Conversation> = {},
): string {
  return templateOf(source).render({
    messages,
    tools: [],
    documents: [],
    addGenerationPrompt: true,
    continueFinalTurn: false,
    variables: {},
    ...more,
  });
}

describe('a conversation by a Jinja template', () => {
  it('has the system turn, the turns and the opening of the answer', () => {
    const answer = { role: 'assistant', content: 'Hello' };
    expect(rendered(CHATML_JINJA, [SYSTEM, USER, answer, USER])).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n' +
        '<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n' +
        '<|im_start|>assistant\n',
    );
    expect(rendered(CHATML_JINJA, [USER], { addGenerationPrompt: false })).toBe(
      '<|im_start|>user\nHi<|im_end|>\n',
    );
  });

  it('has tools, calls with their arguments as an object, and results', () => {
    const tools = [{ type: 'function', function: { name: 'weather' } }];
    const call = { function: { name: 'weather', arguments: { city: 'Rome' } } };
    const messages = [
      USER,
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'sunny' },
    ];
    expect(rendered(CHATML_JINJA, messages, { tools })).toBe(
      '<|im_start|>system\n# Tools\n<tools>\n' +
        '{"type": "function", "function": {"name": "weather"}}\n</tools><|im_end|>\n' +
        '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n\n<tool_call>\n' +
        '{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call><|im_end|>\n' +
        '<|im_start|>user\n<tool_response>\nsunny\n</tool_response><|im_end|>\n' +
        '<|im_start|>assistant\n',
    );
  });

  it('reads special tokens, the time and the variables of the request', () => {
    expect(rendered(LLAMA_JINJA, [USER])).toBe(
      '<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: %d %b %Y\n\n<|eot_id|>' +
        '<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>' +
        '<|start_header_id|>assistant<|end_header_id|>\n\n',
    );
    const variables = { date_string: 'now', bos_token: 'x', messages: [] };
    expect(rendered(LLAMA_JINJA, [USER], { variables })).toMatch(/^<s>.*\n\nToday Date: now\n/);
    const noThoughts = { variables: { enable_thinking: false } };
    expect(rendered(CHATML_JINJA, [USER], noThoughts)).toMatch(/<think>\n\n<\/think>\n\n$/);
  });

  it('ends with the last message when that is continued', () => {
    const messages = [USER, { role: 'assistant', content: 'The answer is ' }];
    const more = { addGenerationPrompt: false, continueFinalTurn: true };
    expect(rendered(MISTRAL_JINJA, messages, more)).toBe('<s>[INST] Hi[/INST] The answer is');
  });

  it('has lists of parts for a template that reads no texts', () => {
    const source =
      "{% for m in messages %}{% for part in m.content %}{% if part.type == 'text' %}" +
      '[{{ part.text }}]{% endif %}{% endfor %}{% endfor %}';
    expect(rendered(source, [SYSTEM, USER])).toBe('[Be brief.][Hi]');
  });

  it('has a template of its own with tools, where the model has one', () => {
    const strftimeNow = (): string => '';
    const template = new JinjaTemplate('plain', { toolUse: 'tools', strftimeNow });
    const conversation = {
      messages: [USER],
      documents: [],
      addGenerationPrompt: true,
      continueFinalTurn: false,
      variables: {},
    };
    expect(template.render({ ...conversation, tools: [] })).toBe('plain');
    expect(template.render({ ...conversation, tools: [{}] })).toBe('tools');
  });

  it('is refused with the words of the template', () => {
    const refusal = new ChatTemplateError('Conversation roles must alternate user/assistant');
    expect(() => rendered(MISTRAL_JINJA, [USER, USER])).toThrow(refusal);
  });

  it('is refused when the template fails', () => {
    expect(() => rendered('{{ messages[0].content.nothing() }}', [USER])).toThrow(
      /^The chat template failed: /,
    );
    const more = { addGenerationPrompt: false, continueFinalTurn: true };
    expect(() => rendered('x', [USER], more)).toThrow('does not write the final message');
  });

  it('takes bounded work', () => {
    const many = Array.from({ length: 2_000 }, () => USER);
    expect(() => withinWork(10_000, () => rendered(CHATML_JINJA, many))).toThrow(WorkExceeded);
  });
});

it('a text that is no template is refused', () => {
  expect(() => templateOf('{% if %}')).toThrow(ChatTemplateError);
});

describe('the ids of a rendered text', () => {
  const ids = (text: string, limit = Infinity, media: number[][] = []): number[] => [
    ...templateOf(CHATML_JINJA).ids(tokenizer, text, { media, limit }),
  ];

  it('have one id for each special token and the ids of the text between them', () => {
    const { special } = tokenizer;
    const text = rendered(CHATML_JINJA, [USER]);
    expect(ids(text)).toEqual([
      special.idOf('<|im_start|>'),
      ...tokenizer.encode('user\nHi'),
      special.idOf('<|im_end|>'),
      ...tokenizer.encode('\n'),
      special.idOf('<|im_start|>'),
      ...tokenizer.encode('assistant\n'),
    ]);
    expect(tokenizer.decode(ids(text))).toBe(text);
  });

  it('have no special tokens of other families', () => {
    expect(ids('[INST]')).toEqual(tokenizer.encode('[INST]'));
  });

  it('have the ids of images in the places of their placeholders', () => {
    const text = `a${placeholder(0)}b${placeholder(7)}`;
    const image = [5, 6, 7];
    expect(ids(text, Infinity, [image])).toEqual([
      ...tokenizer.encode('a'),
      ...image,
      ...tokenizer.encode(`b${placeholder(7)}`),
    ]);
  });

  it.each([0, 1, 5, 100])('are one more than the limit %i in a longer text', (limit) => {
    const text = rendered(CHATML_JINJA, [{ role: 'user', content: 'word '.repeat(200) }]);
    expect(ids(text, limit)).toEqual(ids(text).slice(0, limit + 1));
  });
});
