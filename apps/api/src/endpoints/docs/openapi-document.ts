import { type BatonConfig, needsApiKey } from '@baton/config';
import { VERSION } from '@baton/kernel';
import type { JsonSchema } from '@baton/openai';
import { isGuarded } from '../../http/access/guarded-paths';
import { answerSchemas } from '../../http/answer-schemas';
import type { KnownRoute } from '../../http/known-routes';
import {
  type Media,
  type HttpOperation,
  isOperators,
  type QueryParameter,
  TAGS,
} from '../../http/operation';
import { requestSchemas } from '../../http/request-schemas';
import { ANSWERS } from './answer-examples';
import {
  failureAnswers,
  failureSchemas,
  failuresOf,
  failureWithoutKey,
  ref,
} from './failure-answers';
import { EXAMPLES } from './request-examples';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } & Readonly<
    Record<string, unknown>
  >;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { schema: JsonSchema; example?: object }>>;
  };
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

const MEDIA_TYPES: Readonly<Record<Exclude<Media, 'nothing'>, string>> = {
  json: 'application/json',
  events: 'text/event-stream',
  text: 'text/plain',
  html: 'text/html',
  file: 'application/octet-stream',
};

/** Statement in the document about fields that the schemas do not list. */
const FURTHER_FIELDS = {
  openai:
    'Request fields that are not named here are accepted where servers of this kind document ' +
    'them, and refused otherwise.',
  vllm: 'Request fields that are not named here are accepted.',
} as const;

/** Statement about the operations of operators. */
const KEYED = 'It needs the admin key, except on this machine while no key is configured.';

const BEARER = { type: 'http', scheme: 'bearer' };

/**
 * Describes the routes that a server has. A route whose handler has no `@Describe` has its method
 * and path alone.
 */
export function openApiDocument(
  routes: readonly KnownRoute[],
  config: Pick<BatonConfig, 'dialect'> & Parameters<typeof needsApiKey>[0],
): OpenApiDocument {
  const hasKeys = needsApiKey(config);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  const described = routes.filter(({ operation }) => operation?.upgrades !== true);
  for (const { method, pattern, ...route } of described.sort(byPath)) {
    const operation = route.operation ?? { tag: 'Pages' as const, summary: pattern };
    const path = pathOf(pattern, operation.star);
    const scheme = isOperators(operation) ? 'adminKey' : 'bearer';
    const isSecured = isOperators(operation) || (hasKeys && isGuarded({ route: pattern, path }));
    const shown = operationOf(method, path, operation);
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = isSecured
      ? { ...secured(shown, failureWithoutKey(path, config)), security: [{ [scheme]: [] }] }
      : shown;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version: VERSION,
      description:
        'A simulated cluster that serves a large language model, dialect ' +
        `${config.dialect}. ${FURTHER_FIELDS[config.dialect]}`,
    },
    tags: TAGS.map((name) => ({ name })),
    paths,
    components: {
      schemas: {
        ...requestSchemas(),
        ...shownAnswers(),
        ...failureSchemas(config),
      },
      responses: failureAnswers(),
      securitySchemes: { adminKey: BEARER, ...(hasKeys ? { bearer: BEARER } : {}) },
    },
  };
}

function byPath(a: KnownRoute, b: KnownRoute): number {
  return a.pattern === b.pattern ? 0 : a.pattern < b.pattern ? -1 : 1;
}

/** Writes `:id` as `{id}`, and a star as its name. */
function pathOf(pattern: string, star = 'rest'): string {
  return pattern.replace(/:(\w+)/g, '{$1}').replace(/\*/g, `{${star}}`);
}

function operationOf(method: string, path: string, operation: HttpOperation): DescribedOperation {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path' as const,
      required: true,
      schema: { type: 'string' },
    })),
    ...(operation.query ?? []).map(queryParameter),
  ];
  return {
    operationId: operationId(method, path),
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(operation),
    responses: {
      [operation.status ?? 200]: answerOf(operation),
      ...failuresOf(method, path, operation),
    },
  };
}

/** The summary as a sentence, and the limits that follow from the other facts. */
function descriptionOf(operation: HttpOperation): string {
  const { summary, detail, answers = ['json'] } = operation;
  const isStreamed = answers.includes('json') && answers.includes('events');
  const sentences = [
    `${summary}.`,
    detail,
    isStreamed ? 'With `stream` true the answer is a stream of server-sent events.' : undefined,
    isOperators(operation) ? KEYED : undefined,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join(' ');
}

/** The schemas of answers, each with its description and an example. */
function shownAnswers(): Record<string, JsonSchema> {
  const shown = Object.entries(answerSchemas()).map(([name, schema]: [string, JsonSchema]) => {
    const { description, example } = ANSWERS[name as keyof typeof ANSWERS];
    return [name, { ...schema, description, examples: [example] }] as const;
  });
  return Object.fromEntries(shown);
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${method.toLowerCase()}${camel.join('')}`;
}

function queryParameter({ name, type, meaning }: QueryParameter): DescribedParameter {
  return { name, in: 'query', required: false, description: meaning, schema: { type } };
}

function bodyOf({
  body,
  requires,
  example: own,
}: HttpOperation): Pick<DescribedOperation, 'requestBody'> {
  if (body === undefined) return {};
  const named = body === 'Object' ? { type: 'object' } : ref(`schemas/${body}`);
  const schema = requires === undefined ? named : { ...named, required: requires };
  const example = own ?? EXAMPLES[body];
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: true, content: { 'application/json': media } } };
}

function answerOf({ answers: media = ['json'], result }: HttpOperation): JsonSchema {
  const types = media.flatMap((one) => (one === 'nothing' ? [] : [MEDIA_TYPES[one]]));
  const shapeOf = (type: string): object =>
    type === MEDIA_TYPES.json && result !== undefined ? { schema: ref(`schemas/${result}`) } : {};
  const isStreamed = media.includes('json') && media.includes('events');
  const description = isStreamed ? 'The answer; as events when `stream` is true' : 'The answer';
  if (types.length === 0) return { description: 'No body' };
  return { description, content: Object.fromEntries(types.map((type) => [type, shapeOf(type)])) };
}

/** With the answer to a request without a valid key. */
function secured(operation: DescribedOperation, failure: JsonSchema): DescribedOperation {
  return { ...operation, responses: { ...operation.responses, 401: failure } };
}
