import type { Dialect } from '@baton/openai';
import type { EndpointPath } from '../endpoints';

/** Room for prompts and answers of these tests. */
export const MAX_MODEL_LEN = 3000;
/** The tokenizer's last token. */
export const LAST_TOKEN = 200_006;

/** The valid values of a field, and each dialect's refusal one step outside. */
export interface Range {
  /** With dots for a field within another one. */
  readonly field: string;
  /** Values on the edges. */
  readonly good: readonly unknown[];
  /** One step outside. */
  readonly bad: readonly unknown[];
  /** Other fields that it requires. */
  readonly with?: Readonly<Record<string, unknown>>;
  readonly dialects?: readonly Dialect[];
  /** The parameter in the openai dialect, when not the field itself. */
  readonly param?: string;
  /** The code in the openai dialect, or those of `bad` in order; default: `invalid_value`. */
  readonly code?: string | null | readonly string[];
  /** The name in the vllm dialect; default: none. */
  readonly vllmParam?: string;
  /** `BadRequestError` unless it is a fault of the schema. */
  readonly vllmType?: 'Bad Request';
}

export interface RangesOf {
  readonly paths: readonly EndpointPath[];
  /** A valid request. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly ranges: readonly Range[];
}

/** A list too long, an item of a wrong kind: pydantic's faults name their place in the body. */
export const schema = (
  place: string,
  code: string | null = 'array_above_max_length',
): Pick<Range, 'code' | 'vllmType' | 'vllmParam'> => ({
  code,
  vllmType: 'Bad Request',
  vllmParam: `body.${place}`,
});

export const many = <Item>(count: number, item: Item): Item[] =>
  Array.from({ length: count }, () => item);

/** The codes of values below and above the range of a number. */
export const beyond = (kind: 'integer' | 'decimal', ...sides: ('below' | 'above')[]): string[] =>
  sides.map((side) => `${kind}_${side === 'below' ? 'below_min' : 'above_max'}_value`);
