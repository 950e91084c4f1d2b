/**
 * The messages of OpenAI's API by the error's `code`, without the field's name in front. OpenAI's
 * reference lists no codes; these are from answers that users of the API have reported:
 *
 * - `integer_…`, `decimal_…`: Azure's guide for the Responses API (`integer_below_min_value` of
 *   `max_output_tokens`), and the lists of codes in the tests of other gateways
 * - `array_above_max_length`, `empty_array`, `empty_string`, `string_above_max_length`: reports of
 *   refused `stop`, `messages`, `name` and `prompt_cache_key`
 * - `object_above_max_properties`, `property_name_above_max_length`: reports of refused `metadata`
 */
const WORDS = {
  integer_below_min_value: ({ bound, got }) =>
    `integer below minimum value. Expected a value >= ${bound}, but got ${got} instead.`,
  integer_above_max_value: ({ bound, got }) =>
    `integer above maximum value. Expected a value <= ${bound}, but got ${got} instead.`,
  decimal_below_min_value: ({ bound, got }) =>
    `decimal below minimum value. Expected a value >= ${bound}, but got ${got} instead.`,
  decimal_above_max_value: ({ bound, got }) =>
    `decimal above maximum value. Expected a value <= ${bound}, but got ${got} instead.`,
  empty_array: ({ bound }) =>
    `empty array. Expected an array with minimum length ${bound}, but got an empty array instead.`,
  array_above_max_length: ({ bound, got }) =>
    `array too long. Expected an array with maximum length ${bound}, but got an array with ` +
    `length ${got} instead.`,
  empty_string: ({ bound }) =>
    `empty string. Expected a string with minimum length ${bound}, but got an empty string ` +
    'instead.',
  string_above_max_length: ({ bound, got }) =>
    `string too long. Expected a string with maximum length ${bound}, but got a string with ` +
    `length ${got} instead.`,
  object_above_max_properties: ({ bound, got }) =>
    `too many properties. Expected an object with at most ${bound} properties, but got an ` +
    `object with ${got} properties instead.`,
  property_name_above_max_length: ({ bound, got }) =>
    `property name too long. Expected a property name with maximum length ${bound}, but got one ` +
    `with length ${got} instead.`,
} satisfies Readonly<Record<string, (measure: Measure) => string>>;

interface Measure {
  /** The lowest or the highest allowed value. */
  readonly bound: number;
  readonly got: number;
}

/** A value outside a bound. */
export interface BoundFault extends Measure {
  readonly code: keyof typeof WORDS;
  /** The place within the field, such as `.key`. Undefined: the field as a whole. */
  readonly within?: string;
}

/** Codes of refusals without a bound. */
export type OpenaiCode =
  keyof typeof WORDS | 'missing_required_parameter' | 'invalid_type' | 'unknown_parameter';

/** `Invalid 'n': integer below minimum value. …` */
export function boundMessage(field: string, fault: BoundFault): string {
  return `Invalid '${field}${fault.within ?? ''}': ${WORDS[fault.code](fault)}`;
}

type Range = readonly [least: number, most: number];

/** The fault of a number outside its range. Undefined: the number is in the range. */
export function outside(
  kind: 'integer' | 'decimal',
  got: number,
  [least, most]: Range,
): BoundFault | undefined {
  if (got < least) return { code: `${kind}_below_min_value`, bound: least, got };
  return got > most ? { code: `${kind}_above_max_value`, bound: most, got } : undefined;
}
