import type { Dialect } from '@baton/openai';
import type { EndpointPath } from '../endpoints';

/** Prompts and answers of these tests have so much room. */
export const MAX_MODEL_LEN = 3000;
/** Of the tokenizer. */
export const LAST_TOKEN = 200_006;

/** What a field may be, and how each dialect refuses what is one step outside. */
export interface Range {
  /** With dots where it lies in another field. */
  readonly field: string;
  /** Values on the edges. */
  readonly good: readonly unknown[];
  /** One step outside. */
  readonly bad: readonly unknown[];
  /** Other fields that it needs. */
  readonly with?: Readonly<Record<string, unknown>>;
  readonly dialects?: readonly Dialect[];
  /** What the openai dialect names, when not the field itself. */
  readonly param?: string;
  /** Of the openai dialect; `invalid_value` unless said. */
  readonly code?: string | null;
  /** What the vllm dialect names: nothing unless said. */
  readonly vllmParam?: string;
  /** `BadRequestError` unless it is a fault of the schema. */
  readonly vllmType?: 'Bad Request';
}

export interface RangesOf {
  readonly paths: readonly EndpointPath[];
  /** A request that is right. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly ranges: readonly Range[];
}

/** A list too long, an item of a wrong kind: pydantic's faults name their place in the body. */
export const schema = (place: string): Pick<Range, 'code' | 'vllmType' | 'vllmParam'> => ({
  code: null,
  vllmType: 'Bad Request',
  vllmParam: `body.${place}`,
});

export const many = <Item>(count: number, item: Item): Item[] =>
  Array.from({ length: count }, () => item);
