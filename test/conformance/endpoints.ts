import {
  countTokensBody,
  parseMessages,
  detokenizeBody,
  parseGenerate,
  tokenizeBody,
  type Dialect,
  parseChat,
  parseCompletion,
  type RequestLimits,
  parseClassify,
  parseEmbeddings,
  parsePooling,
  parseRerank,
  parseScore,
} from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { parseSglangGenerate } from '../../apps/api/src/compat/sglang/native-request';

export const DIMENSIONS = 16;
const space = { seed: 1, dimensions: DIMENSIONS };

/** The checks of a body at each endpoint before a job is queued. */
export const ENDPOINTS = {
  '/v1/chat/completions': parseChat,
  '/v1/completions': parseCompletion,
  '/v1/messages': parseMessages,
  '/v1/messages/count_tokens': countTokensBody,
  '/v1/embeddings': (body, limits) => parseEmbeddings(body, { limits, space }),
  '/pooling': (body, limits) => parsePooling(body, { limits, space }),
  '/classify': (body, limits) => parseClassify(body, { limits, space }),
  '/score': (body, limits) => parseScore(body, { limits, space }),
  '/rerank': (body, limits) => parseRerank(body, { limits, space }),
  '/tokenize': tokenizeBody,
  '/detokenize': detokenizeBody,
  '/inference/v1/generate': parseGenerate,
  '/generate': parseSglangGenerate,
} as const satisfies Record<string, (body: unknown, limits: RequestLimits) => unknown>;

export type EndpointPath = keyof typeof ENDPOINTS;

export const PATHS = Object.keys(ENDPOINTS) as readonly EndpointPath[];

export function limitsOf(dialect: Dialect, maxModelLen: number): RequestLimits {
  return { dialect, tokenizer: defaultTokenizer(), models: ['m'], maxModelLen };
}
