import { BatonError, type ErrorCode } from '@baton/contract';
import {
  type Dialect,
  parseChat,
  parseCompletion,
  parseJsonBody,
  renderError,
} from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { describe, it } from 'vitest';
import { expectGolden } from './golden-file';

const tokenizer = defaultTokenizer();

const MALFORMED = ['', '{', '{a:1}', '{"a":1,}', '[1]', '"text"', '5', 'null', '{}', 'NaN'];
const CHAT_FIELDS = [
  '"max_tokens":1.9',
  '"max_tokens":"5"',
  '"max_tokens":true',
  '"max_tokens":-1',
  '"max_tokens":0',
  '"max_tokens":9000',
  '"temperature":"0.5"',
  '"temperature":1e999',
  '"temperature":-0.5',
  '"temperature":2.5',
  '"top_p":0',
  '"top_k":-5',
  '"presence_penalty":3',
  '"n":0',
  '"n":2,"temperature":0',
  '"min_tokens":9,"max_tokens":5',
  '"stop":5',
  '"stop":[1]',
  '"stop":{}',
  '"stop":["a","b","c","d","e"]',
  '"stop":""',
  '"stream_options":{"include_usage":true}',
  '"logprobs":true,"top_logprobs":21',
  '"top_logprobs":2',
  '"model":"other"',
  '"tools":[]',
  '"response_format":{"type":"json_object"}',
  '"messages":[{"content":"x"}]',
  '"messages":[{"role":"user","content":5}]',
  '"messages":[{"role":"user","content":[{"type":"image_url"}]}]',
];
const COMPLETIONS = [
  '{}',
  '{"prompt":[]}',
  '{"prompt":5}',
  '{"prompt":[1,"a"]}',
  '{"prompt":[-1]}',
  '{"prompt":[300000]}',
  '{"prompt":"x","suffix":"y"}',
  '{"prompt":"x","logprobs":-1}',
  '{"prompt":"x","max_tokens":0}',
  `{"prompt":${JSON.stringify('word '.repeat(8200))}}`,
  `{"prompt":[${'5,'.repeat(8149)}5],"max_tokens":100}`,
  `{"prompt":"${'w'.repeat(1_100_000)}"}`,
];
const BARE: readonly ErrorCode[] = [
  'unsupported_content_type',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'uri_too_long',
  'headers_too_large',
  'queue_full',
  'engine_error',
  'no_engine',
];

describe.each(['openai', 'vllm'] as const)('refusals, %s', (dialect) => {
  const limits = { dialect, tokenizer, models: ['golden'], maxModelLen: 8192 };

  it('of chat bodies', () => {
    const fields = CHAT_FIELDS.map((one) => `{"messages":[{"role":"user","content":"Hi"}],${one}}`);
    const parse = (text: string) => parseChat(parseJsonBody(text), limits);
    expectGolden(
      `${dialect}-chat-refusals.txt`,
      listing([...MALFORMED, ...fields], dialect, parse),
    );
  });

  it('of completion bodies', () => {
    const parse = (text: string) => parseCompletion(parseJsonBody(text), limits);
    expectGolden(`${dialect}-completions-refusals.txt`, listing(COMPLETIONS, dialect, parse));
  });

  it('before a body is read', () => {
    const lines = BARE.map((code) => {
      const error = new BatonError(code, undefined, null, code === 'queue_full' ? 2.4 : undefined);
      return described(code, error, dialect);
    });
    expectGolden(`${dialect}-refusals.txt`, lines.join('\n'));
  });
});

function listing(
  bodies: readonly string[],
  dialect: Dialect,
  parse: (body: string) => unknown,
): string {
  return bodies
    .map((body) => {
      try {
        parse(body);
      } catch (error) {
        if (error instanceof BatonError) return described(body, error, dialect);
        throw error;
      }
      return `${shortened(body)}\n  accepted\n`;
    })
    .join('\n');
}

function described(what: string, error: BatonError, dialect: Dialect): string {
  const { status, headers, body } = renderError(error, dialect);
  const { 'retry-after': wait } = headers;
  return `${shortened(what)}\n  ${status}${wait ? ` retry-after ${wait}` : ''} ${body}\n`;
}

function shortened(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 60)} ... ${text.slice(-30)}`;
}
