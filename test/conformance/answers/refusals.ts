import type { TextEndpoint } from './rule';

/** A request that is refused with 400 and names the field, streamed or not. */
export interface Refusal {
  readonly body: object;
  readonly param: string;
  /** The field's name in a response, where it differs. */
  readonly responseParam?: string;
  /** Text in the message, when it is not the field's name. */
  readonly says?: string;
  /** OpenAI's code; default `invalid_value`. */
  readonly code?: string;
  readonly endpoints?: readonly TextEndpoint[];
}

const BELOW = { code: 'decimal_below_min_value' };
const ABOVE = { code: 'decimal_above_max_value' };

const impossible = { type: 'object', properties: { a: { enum: [] } }, required: ['a'] };

export const REFUSALS: readonly Refusal[] = [
  {
    body: { n: 0 },
    param: 'n',
    code: 'integer_below_min_value',
    endpoints: ['chat', 'completions'],
  },
  { body: { n: 0 }, param: 'n', endpoints: ['responses'] },
  { body: { n: 3, best_of: 2 }, param: 'best_of', responseParam: 'n' },
  { body: { echo: true }, param: 'echo', endpoints: ['responses'] },
  { body: { best_of: 2, stream: true }, param: 'best_of', endpoints: ['completions'] },
  { body: { temperature: 2.1 }, param: 'temperature', ...ABOVE },
  { body: { temperature: -0.1 }, param: 'temperature', ...BELOW },
  { body: { top_p: 0 }, param: 'top_p', endpoints: ['chat', 'completions'] },
  { body: { top_p: -0.01 }, param: 'top_p', ...BELOW },
  { body: { top_p: 1.01 }, param: 'top_p', ...ABOVE },
  { body: { presence_penalty: 2.1 }, param: 'presence_penalty', ...ABOVE },
  {
    body: { max_tokens: -1 },
    param: 'max_tokens',
    code: 'integer_below_min_value',
    responseParam: 'max_output_tokens',
  },
  { body: { min_tokens: 41 }, param: 'min_tokens' },
  {
    body: { logprobs: 21 },
    param: 'logprobs',
    code: 'integer_above_max_value',
    endpoints: ['completions'],
  },
  {
    body: { logprobs: true, top_logprobs: 21 },
    param: 'top_logprobs',
    code: 'integer_above_max_value',
    endpoints: ['chat'],
  },
  { body: { stop: '' }, param: 'stop', code: 'empty_string' },
  {
    body: {
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: impossible } },
    },
    param: 'response_format.json_schema.schema',
    responseParam: 'text.format.schema',
  },
  { body: { structured_outputs: { regex: '(' } }, param: 'structured_outputs.regex' },
  {
    body: { tools: [{ type: 'function', function: { name: 'f', parameters: impossible } }] },
    param: 'tools[0].function.parameters',
    responseParam: 'tools[0].parameters',
    says: "Invalid schema for function 'f'",
    endpoints: ['chat', 'responses'],
  },
  { body: { tool_choice: 'required' }, param: 'tool_choice', endpoints: ['chat', 'responses'] },
  { body: { modalities: ['text', 'audio'] }, param: 'modalities', endpoints: ['chat'] },
  { body: { audio: { voice: 'alloy', format: 'wav' } }, param: 'audio', endpoints: ['chat'] },
  { body: { web_search_options: {} }, param: 'web_search_options', endpoints: ['chat'] },
  { body: { suffix: 'and so on' }, param: 'suffix', endpoints: ['completions'] },
  {
    body: {
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A' } }] }],
    },
    param: 'messages[0].content[0]',
    endpoints: ['chat'],
  },
];
