import { describe, expect, it } from 'vitest';
import { LargeBody } from '../../http/body/large-body';
import { isHeavyBody } from './heavy-body';

const MESSAGES = [{ role: 'user', content: 'Hi.' }];

function many<Item>(length: number, item: Item): Item[] {
  return Array<Item>(length).fill(item);
}

describe('a body', () => {
  it.each([
    { messages: MESSAGES },
    { messages: MESSAGES, n: 2, logprobs: true, top_logprobs: 5, max_tokens: 100 },
    { messages: MESSAGES, tools: null, response_format: null, logprobs: false },
    { messages: MESSAGES, n: 2, tools: [], response_format: {}, structured_outputs: {} },
    { prompt: many(5_000, 17), max_tokens: 16 },
    { messages: MESSAGES, response_format: { type: 'text' } },
    { input: 'x', text: { format: { type: 'text' } } },
    { text: 'the prompt of SGLang', sampling_params: { max_new_tokens: 4 } },
    { prompt: 'x', ignore_eos: true, max_tokens: 4_000 },
    { input: 'x', include: ['reasoning.encrypted_content'], max_output_tokens: 100_000 },
    null,
    'text',
    [],
  ])('is not heavy by ordinary counts: %j', (body) => {
    expect(isHeavyBody(body)).toBe(false);
  });

  it.each([
    { messages: many(65, MESSAGES[0]) },
    { messages: MESSAGES, tools: [{ type: 'function', function: { name: 'f' } }] },
    { messages: MESSAGES, response_format: { type: 'json_schema', json_schema: {} } },
    { input: 'x', text: { format: { type: 'json_schema', schema: {} } } },
    { text: 'x', sampling_params: { regex: 'a+' } },
    { prompt: many(17, 'x') },
    { input: many(17, 'x') },
    { prompt: 'x', n: 17 },
    { prompt: 'x', best_of: 17 },
    { prompt: 'x', prompt_logprobs: 0 },
    { prompt: 'x', echo: true, logprobs: 0 },
    { prompt: 'x', logprobs: 20, max_tokens: 1_000 },
    { messages: MESSAGES, logprobs: true, top_logprobs: 20, max_completion_tokens: 1_000 },
    { prompt: 'x', ignore_eos: true, max_tokens: 10_000 },
    { input: 'x', ignore_eos: true, max_output_tokens: 10_000 },
    { input: 'x', include: ['message.output_text.logprobs'], max_output_tokens: 10_000 },
    {
      input: 'x',
      include: ['message.output_text.logprobs'],
      top_logprobs: 20,
      max_output_tokens: 400,
    },
    { messages: MESSAGES, ignore_eos: true },
    { prompt: 'x', min_tokens: 9_000, max_tokens: 10_000 },
    { text_1: 'x', text_2: many(17, 'x') },
    { text: 'x', sampling_params: { n: 17 } },
    { text: 'x', return_logprob: true, logprob_start_len: 0 },
    {
      text: 'x',
      return_logprob: true,
      top_logprobs_num: 20,
      sampling_params: { max_new_tokens: 400 },
    },
    { token_ids: [1], sampling_params: { logprobs: 20, max_tokens: 400 } },
    { messages: MESSAGES, tools: many(513, {}) },
    { messages: [{ role: 'user', content: many(513, { type: 'text' }) }] },
    new LargeBody(new Uint8Array(1)),
  ])('is heavy by its counts: %j', (body) => {
    expect(isHeavyBody(body)).toBe(true);
  });
});
