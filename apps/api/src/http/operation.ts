import { RouteConfig } from '@nestjs/platform-fastify';
import type { answerSchemas } from './answer-schemas';
import type { requestSchemas } from './request-schemas';

/** Headings of the readable page, in order. */
export const TAGS = [
  'Text',
  'Responses',
  'Conversations',
  'Messages',
  'Embeddings and scores',
  'Tokens',
  'Models',
  'Health and metrics',
  'Development mode',
  'Administration',
  'Pages',
] as const;

export type Tag = (typeof TAGS)[number];

/** The schema name of a body, or `object` for any object. */
export type BodyName = keyof ReturnType<typeof requestSchemas> | 'Object';

/** A JSON answer by the name of its schema. */
export type ResultName = keyof ReturnType<typeof answerSchemas>;

/** The media type of an answer. */
export type Media = 'json' | 'events' | 'text' | 'html' | 'file' | 'nothing';

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly meaning: string;
}

/** The OpenAPI facts of a handler besides its route. */
export interface OperationFacts {
  readonly body?: BodyName;
  /** A body that the server accepts, where the body's schema has no example. */
  readonly example?: object;
  /** Sentences beyond the summary: effects and limits. */
  readonly detail?: string;
  /** Fields that this operation requires in addition to those of its body's schema. */
  readonly requires?: readonly string[];
  /** The schema of a JSON answer. Default: any JSON. */
  readonly result?: ResultName;
  /** The status when nothing fails; default 200. */
  readonly status?: 200 | 202 | 308;
  /** Statuses of failures that do not follow from the other facts. */
  readonly refuses?: readonly number[];
  /** True when only requests for a WebSocket are answered, which OpenAPI cannot express. */
  readonly upgrades?: boolean;
  readonly query?: readonly QueryParameter[];
  /** Default: JSON. */
  readonly answers?: readonly Media[];
  /** The meaning of the star of a route. */
  readonly star?: string;
}

/** One operation of the API, as the OpenAPI document describes it. */
export interface HttpOperation extends OperationFacts {
  readonly tag: Tag;
  /** Without a full stop. */
  readonly summary: string;
}

/** A route as Fastify reports it. */
interface RouteOptions {
  readonly config?: object | undefined;
}

/** Operations of operators, not of clients of the API. */
const OPERATORS: ReadonlySet<Tag> = new Set(['Administration', 'Development mode']);

export function isOperators({ tag }: HttpOperation): boolean {
  return OPERATORS.has(tag);
}

export const STREAMED = { answers: ['json', 'events'] } as const;
export const NOTHING = { answers: ['nothing'] } as const;

/** The query parameters of lists in the Responses API. */
export const PAGING: readonly QueryParameter[] = [
  { name: 'limit', type: 'integer', meaning: 'Items of a page, 1 to 100.' },
  { name: 'order', type: 'string', meaning: 'asc or desc.' },
  { name: 'after', type: 'string', meaning: 'The item before the first one of the page.' },
];

/**
 * Describes a handler. The facts travel with its route: Nest hands them to Fastify, `KnownRoutes`
 * reads them.
 */
export function Describe(tag: Tag, summary: string, facts: OperationFacts = {}): MethodDecorator {
  const operation: HttpOperation = { tag, summary, ...facts };
  return RouteConfig({ operation });
}

/** The `Describe` facts of this route's handler. */
export function operationOf({ config }: RouteOptions): HttpOperation | undefined {
  return (config as { readonly operation?: HttpOperation } | undefined)?.operation;
}
