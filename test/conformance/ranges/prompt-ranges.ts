import { DIMENSIONS } from '../endpoints';
import { LAST_TOKEN, many, MAX_MODEL_LEN, type Range, type RangesOf, schema } from './range';

const TOO_LONG = { code: 'context_length_exceeded' };

const TRUNCATION: readonly Range[] = [
  {
    field: 'truncate_prompt_tokens',
    good: [-1, 1, MAX_MODEL_LEN],
    bad: [-2],
    code: 'integer_below_min_value',
  },
  { field: 'truncation_side', good: ['left', 'right'], bad: ['middle'] },
];

const INPUT: readonly Range[] = [
  ...TRUNCATION,
  { field: 'input', good: ['x', ['x'], many(2_048, 'x')], bad: [[], many(2_049, 'x')] },
  { field: 'input', good: [[0], [LAST_TOKEN]], bad: [[LAST_TOKEN + 1]] },
  { field: 'input', good: [], bad: [[-1]], ...schema('input', 'invalid_type'), param: 'input[0]' },
  {
    field: 'input',
    good: [many(MAX_MODEL_LEN, 5)],
    bad: [many(MAX_MODEL_LEN + 1, 5)],
    ...TOO_LONG,
    vllmParam: 'input_tokens',
  },
];

const VECTOR: readonly Range[] = [
  { field: 'dimensions', good: [1, DIMENSIONS], bad: [0, DIMENSIONS + 1], vllmParam: 'dimensions' },
  { field: 'encoding_format', good: ['float', 'base64'], bad: ['bytes'] },
  { field: 'embed_dtype', good: ['float32'], bad: ['float16'] },
  { field: 'endianness', good: ['native', 'little'], bad: ['big'] },
];

export const PROMPT_RANGES: readonly RangesOf[] = [
  { paths: ['/v1/embeddings', '/pooling'], body: { input: 'x' }, ranges: [...INPUT, ...VECTOR] },
  { paths: ['/classify'], body: { input: 'x' }, ranges: INPUT },
  {
    paths: ['/score'],
    body: { queries: 'a', documents: ['b'] },
    ranges: [
      ...TRUNCATION,
      { field: 'documents', good: [['b'], many(2_048, 'b')], bad: [[], many(2_049, 'b')] },
      { field: 'queries', good: ['a', ['a']], bad: [[], ['a', 'a']] },
    ],
  },
  {
    paths: ['/rerank'],
    body: { query: 'a', documents: ['b'] },
    ranges: [
      ...TRUNCATION,
      { field: 'documents', good: [['b'], many(2_048, 'b')], bad: [[], many(2_049, 'b')] },
      { field: 'top_n', good: [0, 1, 9], bad: [-1], code: 'integer_below_min_value' },
    ],
  },
  {
    paths: ['/tokenize'],
    body: { prompt: 'x' },
    ranges: [
      { field: 'prompt', good: ['', ' a'.repeat(2 ** 20)], bad: [' a'.repeat(2 ** 20 + 1)] },
    ],
  },
  {
    paths: ['/detokenize'],
    body: { tokens: [] },
    ranges: [
      { field: 'tokens', good: [[], [0], [LAST_TOKEN]], bad: [[LAST_TOKEN + 1]] },
      {
        field: 'tokens',
        good: [],
        bad: [[-1]],
        ...schema('tokens.0', 'invalid_type'),
        param: 'tokens[0]',
      },
    ],
  },
];
