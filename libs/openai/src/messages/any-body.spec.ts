import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClassify, parseEmbeddings, parsePooling } from '../embeddings/parse-embeddings';
import type { Dialect, RequestLimits } from '../limits';
import { parseRerank, parseScore } from '../score/parse-score';
import { parseGenerate } from '../tokens/generate';
import { detokenizeBody, tokenizeBody } from '../tokens/tokens';
import { countTokensBody, parseMessages } from './parse-messages';

const SEED = 20_261_121;
const HEAD = { id: 'x', created: 0, model: 'm', systemFingerprint: 'f' };

const limitsOf = (dialect: Dialect): RequestLimits => ({
  dialect,
  tokenizer: defaultTokenizer(),
  models: ['m'],
  maxModelLen: 64,
});

type Endpoint = (body: unknown, limits: RequestLimits) => unknown;

const pooling =
  (parse: typeof parseEmbeddings): Endpoint =>
  (body, limits) =>
    parse(body, { limits, space: { seed: 1, dimensions: 16 } }).render(HEAD);

const ENDPOINTS: readonly (readonly [string, Endpoint])[] = [
  ['/v1/messages', parseMessages],
  ['/v1/messages/count_tokens', countTokensBody],
  ['/tokenize', tokenizeBody],
  ['/detokenize', detokenizeBody],
  ['/inference/v1/generate', parseGenerate],
  ['/v1/embeddings', pooling(parseEmbeddings)],
  ['/pooling', pooling(parsePooling)],
  ['/classify', pooling(parseClassify)],
  ['/score', pooling(parseScore)],
  ['/rerank', pooling(parseRerank)],
];

const FIELDS = [
  ...['model', 'messages', 'system', 'max_tokens', 'tools', 'tool_choice', 'thinking', 'stream'],
  ...['stop_sequences', 'metadata', 'output_config', 'input', 'dimensions', 'encoding_format'],
  ...[
    'prompt',
    'tokens',
    'token_ids',
    'sampling_params',
    'query',
    'documents',
    'text_1',
    'text_2',
    'top_n',
    'constructor',
  ],
  ...['__proto__', 'truncate_prompt_tokens', 'kv_transfer_params', 'temperature', 'priority'],
];

const text = fc.constantFrom(
  '',
  'a',
  'text',
  'user',
  'assistant',
  'm',
  'any',
  '\ud800',
  '🏃',
  'x'.repeat(300),
);
const leaf = fc.oneof(
  text,
  fc.constantFrom(null, true, false, 0, -1, 1, 5, 1.5, 1e308, -(2 ** 53), 2 ** 31),
);
const KEYS = ['type', 'text', 'role', 'content', 'name', 'input', 'id', 'source', 'data', 'schema'];
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS, ...FIELDS), tie('value'), { maxKeys: 4 }),
  ),
}));
const block = fc.record({
  type: fc.constantFrom('text', 'image', 'tool_use', 'tool_result', 'thinking', 'video'),
  text: value,
  content: value,
  source: value,
  input: value,
});
const messages = fc.array(
  fc.record({
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    content: fc.oneof(text, fc.array(fc.oneof(block, value), { maxLength: 3 }), value),
  }),
  { maxLength: 3 },
);
const body = fc.oneof(
  value,
  fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 6 }),
  fc.record({ max_tokens: leaf, messages, tools: value, input: value, prompt: value }),
);

describe('any body at all', () => {
  it.each(ENDPOINTS)(
    'of %s is served, or refused with 400 or 404',
    (_, endpoint) => {
      fc.assert(
        fc.property(body, fc.constantFrom('openai' as const, 'vllm' as const), (any, dialect) => {
          try {
            endpoint(any, limitsOf(dialect));
          } catch (error) {
            if (!(error instanceof BatonError)) throw error;
            expect([400, 404]).toContain(error.entry.status);
          }
        }),
        { seed: SEED, numRuns: 2_000 },
      );
    },
    60_000,
  );
});
