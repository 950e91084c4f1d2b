import type { requestSchemas } from '@baton/openai';

/** Headings of the readable page, in its order. */
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

/** A body by the name of its schema, or any object. */
export type BodyName = keyof ReturnType<typeof requestSchemas> | 'Object';

/** What an answer is sent as. */
export type Media = 'json' | 'events' | 'text' | 'html' | 'file' | 'nothing';

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly meaning: string;
}

/** One thing that a client can ask for. */
export interface Operation {
  readonly tag: Tag;
  /** Without a full stop. */
  readonly summary: string;
  readonly body?: BodyName;
  readonly query?: readonly QueryParameter[];
  /** Default: JSON. */
  readonly answers?: readonly Media[];
  /** What the star of a route stands for. */
  readonly star?: string;
}

/** By method and route, as the framework has it: `GET /v1/models/*`. */
export type Operations = Readonly<Record<string, Operation>>;
