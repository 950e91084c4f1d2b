import { isObject } from '@baton/kernel';
import type { OwnType, WrongValue } from './declare';

const isText = (value: unknown): value is string => typeof value === 'string';
const isInteger = (value: unknown): boolean => Number.isInteger(value);
const isTokenId = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

function isListOf(value: unknown, fits: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits);
}

type Item = Pick<OwnType, 'expected' | 'fits'>;

/** The first item of a list that is not of this type. */
export function wrongItem(list: unknown, { expected, fits }: Item): WrongValue | undefined {
  if (!Array.isArray(list)) return undefined;
  const at = list.findIndex((item) => !fits(item));
  return at === -1 ? undefined : { at, value: list[at], expected };
}

const TEXT: Item = { expected: 'a string', fits: isText };
const TOKEN: Item = { expected: 'a token id', fits: isTokenId };
const INTEGER: Item = { expected: 'an integer', fits: isInteger };
const TOKEN_SCHEMA = { type: 'integer', minimum: 0 };

/** Ids of a tokenizer's vocabulary. */
export const TOKEN_IDS: OwnType = {
  expected: 'an array of token ids',
  schema: { type: 'array', items: TOKEN_SCHEMA },
  fits: (value) => isListOf(value, isTokenId),
  wrongIn: (value) => wrongItem(value, TOKEN),
};

const TEXT_SCHEMA = { type: 'string' };
const LISTS_SCHEMA = { type: 'array', items: TOKEN_IDS.schema };

/** One text, or one prompt as token ids. */
export const TEXT_OR_TOKEN_IDS: OwnType = {
  expected: 'a string or an array of token ids',
  schema: { anyOf: [TEXT_SCHEMA, TOKEN_IDS.schema] },
  fits: (value) => isText(value) || TOKEN_IDS.fits(value),
  isUnion: true,
  wrongIn: (value) => wrongItem(value, TOKEN),
};

/** The wrong item of a list, as which the first item has begun it. */
function wrongPrompt(value: unknown): WrongValue | undefined {
  const [first] = Array.isArray(value) ? (value as unknown[]) : [];
  if (isText(first)) return wrongItem(value, TEXT);
  if (typeof first === 'number') return wrongItem(value, TOKEN);
  return Array.isArray(first) ? wrongItem(value, TOKEN_IDS) : undefined;
}

/** One or several prompts as token ids. */
export const TOKEN_ID_LISTS: OwnType = {
  expected: 'an array of token ids or an array of arrays of token ids',
  schema: { anyOf: [TOKEN_IDS.schema, LISTS_SCHEMA] },
  fits: (value) => TOKEN_IDS.fits(value) || isListOf(value, TOKEN_IDS.fits),
  isUnion: true,
  wrongIn: wrongPrompt,
};

/** One or several texts. */
export const TEXTS: OwnType = {
  expected: 'a string or an array of strings',
  schema: { anyOf: [TEXT_SCHEMA, { type: 'array', items: TEXT_SCHEMA }] },
  fits: (value) => isText(value) || isListOf(value, isText),
  isUnion: true,
  wrongIn: (value) => wrongItem(value, TEXT),
};

/** One or several prompts, as texts or as token ids. */
export const PROMPTS: OwnType = {
  expected:
    'a string, an array of strings, an array of token ids, or an array of arrays of token ids',
  schema: {
    anyOf: [TEXT_SCHEMA, { type: 'array', items: TEXT_SCHEMA }, TOKEN_IDS.schema, LISTS_SCHEMA],
  },
  fits: (value) => TEXTS.fits(value) || TOKEN_ID_LISTS.fits(value),
  isUnion: true,
  wrongIn: wrongPrompt,
};

/** A long list: `each` of the library takes ten times as long for one. */
export const INTEGER_LIST: OwnType = {
  expected: 'an array of integers',
  schema: { type: 'array', items: { type: 'integer' } },
  fits: (value) => isListOf(value, isInteger),
  wrongIn: (value) => wrongItem(value, INTEGER),
};

/** One or several counts. */
export const INTEGERS: OwnType = {
  expected: 'an integer or an array of integers',
  schema: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }] },
  fits: (value) => isInteger(value) || isListOf(value, isInteger),
  isUnion: true,
  wrongIn: (value) => wrongItem(value, INTEGER),
};

/** An object whose values are all finite numbers. */
export const NUMBERS_BY_NAME: OwnType = {
  expected: 'an object',
  schema: { type: 'object', additionalProperties: { type: 'number' } },
  fits: (value) => isObject(value) && Object.values(value).every(Number.isFinite),
  wrongIn: (value) => {
    const entries = isObject(value) ? Object.entries(value) : [];
    const [at, wrong] = entries.find(([, one]) => !Number.isFinite(one)) ?? [];
    return at === undefined ? undefined : { at, value: wrong, expected: 'a number' };
  },
};

/** What has ended an answer: the text of a stop string, or the id of a stop token. */
export const STOP_REASON: OwnType = {
  expected: 'a string or an integer',
  schema: { anyOf: [TEXT_SCHEMA, { type: 'integer' }] },
  fits: (value) => isText(value) || isInteger(value),
  isUnion: true,
};
