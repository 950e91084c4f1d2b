import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../refusal/dialect';
import type { RequestLimits } from '../limits';
import { countTokensBody, parseMessages } from './parse-messages';

const tokenizer = defaultTokenizer();
const HI = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 6 };
const WEATHER = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { enum: ['Oslo'] } }, required: ['city'] },
};

function limitsOf(dialect: Dialect, more: Partial<RequestLimits> = {}): RequestLimits {
  return { dialect, tokenizer, models: ['m'], maxModelLen: 4096, ...more };
}

describe('a conversation of Anthropic', () => {
  const chat = (body: object): string => {
    const { prompts } = parseMessages({ max_tokens: 5, ...body }, limitsOf('vllm'));
    return tokenizer.decode(prompts[0]!.ids);
  };

  it('keeps its blocks in order, with tool results before the user’s text', () => {
    const text = chat({
      system: [{ type: 'text', text: 'be brief' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'look it up', signature: 's' },
            { type: 'tool_use', id: 't1', name: 'get_weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'rain' }] },
            { type: 'text', text: 'and now?' },
          ],
        },
      ],
    });
    const places = ['be brief', 'weather?', 'look it up', '{"city":"Oslo"}', 'rain', 'and now?'];
    const found = places.map((place) => text.indexOf(place));
    expect(found.every((at) => at >= 0)).toBe(true);
    expect([...found].sort((a, b) => a - b)).toEqual(found);
  });

  it('leaves out unreadable parts of reasoning', () => {
    const content = [
      { type: 'redacted_thinking', data: 'c2VjcmV0' },
      { type: 'text', text: 'so be it' },
    ];
    const text = chat({ messages: [...HI.messages, { role: 'assistant', content }] });
    expect(text).toContain('so be it');
    expect(text).not.toContain('c2VjcmV0');
  });

  it('that ends with the assistant is continued by Anthropic, and answered by vLLM', () => {
    const messages = [...HI.messages, { role: 'assistant', content: 'Well,' }];
    const end = (dialect: Dialect): string =>
      tokenizer
        .decode(parseMessages({ ...HI, messages }, limitsOf(dialect)).prompts[0]!.ids)
        .slice(-21);
    expect(end('openai')).toMatch(/Well,$/);
    expect(end('vllm')).toMatch(/assistant\n$/);
  });

  it('passes on the fields with the same meaning as in a chat', () => {
    const body = {
      ...HI,
      metadata: { user_id: 'u' },
      cache_salt: 's',
      priority: 3,
      request_id: 'r',
      seed: 9,
      ignore_eos: true,
      min_tokens: 2,
      kv_transfer_params: { do_remote_decode: true },
    };
    expect(parseMessages(body, limitsOf('vllm'))).toMatchObject({
      user: 'u',
      cacheSalt: 's',
      priority: 3,
      requestId: 'r',
      seed: 9,
      ignoreEos: true,
      minTokens: 2,
      kvTransferParams: { do_remote_decode: true },
    });
  });

  it('has the reasoning effort of output_config', () => {
    const effortOf = (effort: string): number =>
      parseMessages(
        { ...HI, thinking: { type: 'adaptive' }, output_config: { effort } },
        limitsOf('openai', { isReasoning: true }),
      ).reasoning?.effort ?? 0;
    expect(effortOf('high')).toBeGreaterThan(effortOf('low'));
  });

  it('has the same count as the computed prompt', () => {
    const body = { ...HI, system: 'be brief', tools: [WEATHER] };
    const computed = parseMessages(body, limitsOf('vllm')).prompts[0]!.ids.length;
    expect(countTokensBody(body, limitsOf('vllm'))).toBe(
      `{"input_tokens":${computed},"context_management":{"original_input_tokens":${computed}}}`,
    );
    expect(countTokensBody(body, limitsOf('openai'))).toBe(`{"input_tokens":${computed}}`);
  });

  it.each([
    ['no messages', { messages: [] }, /at least one message/],
    ['no max_tokens', { max_tokens: undefined }, /max_tokens/],
    ['max_tokens of 0', { max_tokens: 0 }, /greater than 0/],
    ['max_tokens as text', { max_tokens: '5' }, /max_tokens/],
    ['another role', { messages: [{ role: 'tool', content: 'x' }] }, /messages\.0\.role/],
    ['a message without content', { messages: [{ role: 'user' }] }, /content/],
    [
      'a text of another type',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 1 }] }] },
      /messages\.0\.content\.0\.text/,
    ],
    [
      'an unknown block',
      { messages: [{ role: 'user', content: [{ type: 'video' }] }] },
      /messages\.0\.content\.0/,
    ],
    [
      'an image for a text model',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            ],
          },
        ],
      },
      /not currently supported/,
    ],
    ['a fifth stop sequence', { stop_sequences: ['1', '2', '3', '4', '5'] }, /stop_sequences/],
    ['an empty stop sequence', { stop_sequences: [''] }, /empty/],
    [
      'an unknown tool choice',
      { tools: [WEATHER], tool_choice: { type: 'some' } },
      /tool_choice\.type/,
    ],
    [
      'a choice without a tool',
      { tools: [WEATHER], tool_choice: { type: 'tool', name: 'x' } },
      /tool_choice/,
    ],
    [
      'a choice that leaves only a hosted tool',
      {
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'any' },
      },
      /only tools that are not supported: web_search_20250305/,
    ],
    ['a temperature above 2', { temperature: 2.1 }, /temperature/],
    ['top_p of 0', { top_p: 0 }, /top_p/],
    ['another output format', { output_config: { format: { type: 'xml' } } }, /output_config/],
    ['an unknown kind of thinking', { thinking: { type: 'hard' } }, /thinking\.type/],
  ])('is refused with %s', (_, body, message) => {
    for (const dialect of ['openai', 'vllm'] as const) {
      expect(() => parseMessages({ ...HI, ...body }, limitsOf(dialect))).toThrow(message);
    }
  });

  it('leaves hosted tools out and names them, or is refused with them', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }, WEATHER];
    const limits = limitsOf('openai');
    const request = parseMessages({ ...HI, tools }, limits);
    expect(request.skippedTools).toEqual(['web_search_20250305']);
    expect(request.prompts).toEqual(parseMessages({ ...HI, tools: [WEATHER] }, limits).prompts);
    const refusing = { ...limits, unsupportedTools: 'reject' } as const;
    expect(() => parseMessages({ ...HI, tools }, refusing)).toThrow(/tools\.0\.type/);
  });

  it('has Anthropic’s own limits only in the openai dialect', () => {
    const strict = [
      { ...HI, temperature: 1.1 },
      { ...HI, thinking: { type: 'enabled', budget_tokens: 1023 } },
      { ...HI, max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 1024 } },
    ];
    for (const body of strict) {
      expect(() => parseMessages(body, limitsOf('openai'))).toThrow(BatonError);
      expect(() => parseMessages(body, limitsOf('vllm'))).not.toThrow();
    }
    const edge = {
      ...HI,
      temperature: 1,
      max_tokens: 1025,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    };
    expect(() => parseMessages(edge, limitsOf('openai'))).not.toThrow();
  });
});
