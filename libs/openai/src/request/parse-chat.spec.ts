import { BatonError } from '@baton/contract';
import { applyChatTemplate, defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { RequestLimits } from '../limits';
import { parseChat } from './parse-chat';

const tokenizer = defaultTokenizer();
const limits: RequestLimits = { dialect: 'openai', tokenizer, models: ['m'], maxModelLen: 200 };
const messages = [{ role: 'user', content: 'Hi' }];
const parse = (body: object, more: Partial<RequestLimits> = {}) =>
  parseChat({ messages, ...body }, { ...limits, ...more });
const promptOf = (body: object) => tokenizer.decode(parse(body).prompts[0]!.ids);

function refusal(body: object, more: Partial<RequestLimits> = {}): BatonError {
  try {
    parse(body, more);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  return expect.fail(`accepted: ${JSON.stringify(body)}`);
}

describe('messages', () => {
  it('become the prompt by the chat template', () => {
    expect(parse({}).prompts[0]?.ids).toEqual(applyChatTemplate(tokenizer, messages));
  });

  it('may hold parts of text, joined by line breaks', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'input_text', text: 'b' },
      { type: 'refusal', refusal: 'c' },
    ];
    const content = promptOf({ messages: [{ role: 'user', content: parts }] });
    expect(content).toBe(promptOf({ messages: [{ role: 'user', content: 'a\nb\nc' }] }));
  });

  it('may have any role, a name, no content, and the calls and reasoning of earlier turns', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":  1}' } };
    const body = {
      messages: [
        { role: 'user', name: 'ann', content: 'x' },
        { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: '5' },
        { role: 'critic', content: 'y' },
      ],
    };
    const [prompt] = parse(body, { dialect: 'vllm' }).prompts;
    const text = tokenizer.decode(prompt!.ids);
    expect(text).toContain('<|im_start|>user name=ann\nx<|im_end|>');
    expect(text).toContain('<|im_start|>assistant\nhm\n</think>');
    expect(text).toContain('{"name": "f", "arguments": {"a":  1}}\n</tool_call>\n<|im_end|>');
    expect(text).toContain('<|im_start|>tool\n5<|im_end|>');
    expect(text).toContain('<|im_start|>critic\ny<|im_end|>');
  });

  it('are merged by role, with their instructions in one leading turn', () => {
    const text = promptOf({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'developer', content: 'c' },
        { role: 'user', content: 'd' },
        { role: 'user', name: 'eve', content: 'e' },
      ],
    });
    expect(text).toBe(
      '<|im_start|>system\na\n\nc<|im_end|>\n<|im_start|>user\nb\nd<|im_end|>\n' +
        '<|im_start|>user name=eve\ne<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  it('come after the description of tools and documents', () => {
    const text = promptOf({
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      documents: [{ title: 't', text: 'u' }],
    });
    expect(text).toMatch(/^<\|im_start\|>system\nBe brief\.\n\n# Tools/);
    expect(text).toContain('{"type":"function","function":{"name":"f","parameters":{}}}');
    expect(text).toContain('{"title":"t","text":"u"}');
    const without = parse({}).prompts[0]!.ids.length;
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(parse({ tools, tool_choice: 'none' }).prompts[0]!.ids.length).toBeGreaterThan(without);
  });

  it('may end with an open turn that the answer continues', () => {
    const open = [...messages, { role: 'assistant', content: 'Well,' }];
    const body = { messages: open, continue_final_message: true };
    expect(promptOf(body)).toBe('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nWell,');
    expect(refusal({ ...body, add_generation_prompt: true }).message).toContain('Cannot set both');
  });

  it('may have images and audio if the model takes them, each with its tokens', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    const withParts = (...parts: object[]) => [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, ...parts] },
    ];
    const able = { imageTokens: 50, audioTokens: 7 };
    const idsOf = (body: object) => [...parse(body, able).prompts[0]!.ids];
    const plain = idsOf({}).length;
    const breaks = 1;
    expect(idsOf({ messages: withParts(image) })).toHaveLength(plain + breaks + 50);
    expect(idsOf({ messages: withParts(image, audio) })).toHaveLength(plain + 2 * breaks + 57);
    expect(idsOf({ messages: withParts(image) })).toEqual(idsOf({ messages: withParts(image) }));
    const other = { type: 'image_url', image_url: 'https://example.com/a.png' };
    expect(idsOf({ messages: withParts(other) })).not.toEqual(
      idsOf({ messages: withParts(image) }),
    );
    const empty = { type: 'image_url', image_url: {} };
    expect(() => parse({ messages: withParts(empty) }, able)).toThrow('an address or data');
  });

  it('end with a closed turn when no generation prompt is requested', () => {
    expect(promptOf({ add_generation_prompt: false })).toBe('<|im_start|>user\nHi<|im_end|>\n');
  });

  it.each([
    [{ messages: undefined }, 'invalid_type', 'messages'],
    [{ messages: 'x' }, 'invalid_type', 'messages'],
    [{ messages: [] }, 'invalid_value', 'messages'],
    [{ messages: [5] }, 'invalid_type', 'messages[0]'],
    [{ messages: [{ content: 'x' }] }, 'invalid_type', 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'invalid_type', 'messages[0].content'],
    [{ messages: [{ role: 'user', content: ['x'] }] }, 'invalid_type', 'messages[0].content[0]'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'invalid_value',
      'messages[0].content[0].text',
    ],
    [
      { messages: [...messages, { role: 'user', content: [{ type: 'input_audio' }] }] },
      'invalid_value',
      'messages[1].content[0]',
    ],
  ])('%j is refused', (body, code, param) => {
    expect(refusal(body)).toMatchObject({ code, param });
  });
});

describe('limits', () => {
  it('max_completion_tokens precedes max_tokens; without both, the context is the limit', () => {
    expect(parse({ max_completion_tokens: 5, max_tokens: 7 }).prompts[0]?.maxTokens).toBe(5);
    expect(parse({ max_tokens: 7 }).prompts[0]?.maxTokens).toBe(7);
    expect(parse({}).prompts[0]?.maxTokens).toBe(200 - 9);
    expect(parse({}, { kvCapacityTokens: 50 }).prompts[0]?.maxTokens).toBe(50 - 9);
  });

  it('a prompt that leaves no room is refused', () => {
    const at = (count: number) => [{ role: 'user', content: ' word'.repeat(count) }];
    expect(parse({ messages: at(191) }).prompts[0]?.maxTokens).toBe(1);
    expect(refusal({ messages: at(192) }).message).toContain('at least 1, got 0');
    expect(refusal({ messages: at(193) }).code).toBe('context_length_exceeded');
    expect(refusal({ messages: at(50_000) }).code).toBe('context_length_exceeded');
  });

  it('names the field that set the limit', () => {
    expect(refusal({ max_completion_tokens: -1 }).param).toBe('max_completion_tokens');
    expect(refusal({ max_completion_tokens: 201 }).param).toBe('max_completion_tokens');
    expect(refusal({ max_tokens: 0 }).param).toBe('max_tokens');
  });
});

describe('log-probabilities', () => {
  it('need logprobs to be true', () => {
    expect(parse({ logprobs: true, top_logprobs: 3 }).logprobs).toBe(3);
    expect(parse({ logprobs: true }).logprobs).toBe(0);
    expect(parse({ logprobs: false, top_logprobs: 0 }).logprobs).toBeUndefined();
    expect(refusal({ top_logprobs: 3 }).param).toBe('top_logprobs');
    expect(refusal({ logprobs: true, top_logprobs: 21 }).param).toBe('top_logprobs');
  });
});

describe('echo', () => {
  it('repeats the last message when it is the assistant’s', () => {
    const turns = [...messages, { role: 'assistant', content: 'Well,' }];
    expect(parse({ echo: true, messages: turns }).prompts[0]?.echoText).toBe('Well,');
    expect(parse({ echo: true }).prompts[0]?.echoText).toBeUndefined();
  });
});

describe('fields that would change the answer', () => {
  it.each([
    ['use_beam_search', true],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'x' }],
    ['web_search_options', {}],
    ['prompt_embeds', 'x'],
    ['logprob_token_ids', [5]],
    ['repetition_detection', { max_pattern_size: 5 }],
    ['return_token_offsets', true],
    ['return_assistant_tokens_mask', true],
    ['ec_transfer_params', {}],
  ])('%s is refused by name', (field, value) => {
    const error = refusal({ [field]: value });
    expect(error).toMatchObject({ code: 'invalid_value', param: field });
    expect(error.message).toBe(`${field} is not currently supported`);
  });

  it('chat_template is refused with vLLM’s message', () => {
    expect(refusal({ chat_template: 'x' }).message).toContain('untrusted chat template');
  });

  it('are accepted with the neutral values that SDKs send', () => {
    const neutral = {
      tools: null,
      tool_choice: 'none',
      response_format: { type: 'text' },
      logit_bias: {},
      bad_words: [],
      modalities: ['text'],
      use_beam_search: false,
      parallel_tool_calls: true,
      functions: [],
      documents: [],
      service_tier: null,
    };
    expect(parse(neutral)).toEqual(parse({}));
  });
});
