import { STATUS_CODES } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { ERRORS } from '@baton/contract';
import type { JsonSchema } from '@baton/openai';
import { isLimited } from '../../http/access/guarded-paths';
import { type HttpOperation, isOperators, type Tag } from '../../http/operation';

/** The schemas of errors, by name. */
const FAILURES = ['Error', 'MessageError', 'ResponseError'] as const;

type Failure = (typeof FAILURES)[number];

/** The error of vLLM's middleware, at all paths. */
const KEY_FAILURE = 'KeyError';

/** A malformed or late request, and a server that fails, stops or has no broker. */
const ANYWHERE = [400, 408, 414, 431, 500, 503];
/** A body that is too large or has an unknown encoding. Each operation but GET reads a body. */
const OF_BODIES = [413, 415];
/** An unknown model, or an unknown id in the path. */
const OF_NAMES = [404];
/** A page of another site, an engine that cannot leave, no supervisor. */
const OF_OPERATORS = [403, 404, 409, 501];
/** Upstream servers that cannot serve the request, failed, or are late. */
const OF_ENGINES = [501, 502, 504];
const FOR_ENGINES: ReadonlySet<Tag> = new Set([
  ...(['Text', 'Responses', 'Messages', 'Embeddings and scores'] as const),
]);

/** The failures of an operation by status, except the one without a key. */
export function failuresOf(
  method: string,
  path: string,
  operation: HttpOperation,
): Record<number, JsonSchema> {
  const statuses = [
    ...ANYWHERE,
    ...(method === 'GET' ? [] : OF_BODIES),
    ...(path.includes('{') || operation.body !== undefined ? OF_NAMES : []),
    ...(isLimited({ route: undefined, path }) ? [429] : []),
    ...(isOperators(operation) ? OF_OPERATORS : []),
    ...(FOR_ENGINES.has(operation.tag) ? OF_ENGINES : []),
    ...(operation.refuses ?? []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, answer(failureOf(path), status)]));
}

/** The failure of a request without a valid key. */
export function failureWithoutKey(
  path: string,
  { dialect }: Pick<BatonConfig, 'dialect'>,
): JsonSchema {
  return answer(dialect === 'vllm' ? KEY_FAILURE : failureOf(path), 401);
}

/** The answers of all failures, with the messages of the catalogue of errors. */
export function failureAnswers(): Record<string, JsonSchema> {
  const messages = new Map<number, Set<string>>();
  for (const { status, message } of Object.values(ERRORS)) {
    messages.set(status, (messages.get(status) ?? new Set()).add(message));
  }
  const answers = [...messages].flatMap(([status, all]) =>
    FAILURES.map((name): [string, JsonSchema] => [
      `${name}${status}`,
      refusal(name, `${STATUS_CODES[status] ?? status}. ${[...all].join(' ')}`),
    ]),
  );
  const withoutKey = refusal(KEY_FAILURE, 'The request has no valid API key.');
  return { ...Object.fromEntries(answers), [`${KEY_FAILURE}401`]: withoutKey };
}

export function failureSchemas({ dialect }: Pick<BatonConfig, 'dialect'>): {
  readonly [name in Failure | typeof KEY_FAILURE]: JsonSchema;
} {
  return {
    Error: dialect === 'vllm' ? vllmErrorSchema() : openAiErrorSchema(),
    MessageError: messageErrorSchema(),
    ResponseError: openAiErrorSchema(),
    KeyError: keyErrorSchema(),
  };
}

/**
 * Errors of `/v1/messages` have Anthropic's shape; those of items have OpenAI's in both dialects.
 */
function failureOf(path: string): Failure {
  if (path.startsWith('/v1/messages')) return 'MessageError';
  return /^\/v1\/(responses|conversations)/.test(path) ? 'ResponseError' : 'Error';
}

function answer(failure: Failure | typeof KEY_FAILURE, status: number): JsonSchema {
  return ref(`responses/${failure}${status}`);
}

function keyErrorSchema(): JsonSchema {
  return { type: 'object', properties: { error: { const: 'Unauthorized' } }, required: ['error'] };
}

function messageErrorSchema(): JsonSchema {
  const properties = { type: { type: 'string' }, message: { type: 'string' } };
  const error = { type: 'object', properties, required: Object.keys(properties) };
  return {
    type: 'object',
    properties: { type: { const: 'error' }, error },
    required: ['type', 'error'],
  };
}

function refusal(schema: string, description: string): JsonSchema {
  return { description, content: { 'application/json': { schema: ref(`schemas/${schema}`) } } };
}

/** vLLM's code is the status; an unknown path fails in FastAPI's shape. */
function vllmErrorSchema(): JsonSchema {
  const detail = { type: 'object', properties: { detail: {} }, required: ['detail'] };
  return { anyOf: [errorSchema({ type: 'integer' }), detail] };
}

/** OpenAI's code is a name. */
function openAiErrorSchema(): JsonSchema {
  return errorSchema({ type: ['string', 'null'] });
}

function errorSchema(code: JsonSchema): JsonSchema {
  const properties = {
    message: { type: 'string' },
    type: { type: 'string' },
    param: { type: ['string', 'null'] },
    code,
  };
  const error = { type: 'object', properties, required: Object.keys(properties) };
  return { type: 'object', properties: { error }, required: ['error'] };
}

export function ref(path: string): JsonSchema {
  return { $ref: `#/components/${path}` };
}
