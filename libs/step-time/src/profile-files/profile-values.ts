import { isObject } from '@baton/kernel';
import { HardwareError } from '@baton/hardware';
import type { Range } from '../port/valid-range';

/** A mapping of a parsed YAML or JSON document. */
export type Section = Readonly<Record<string, unknown>>;

/** @throws HardwareError `bad-profile` */
export function asSection(value: unknown, name: string): Section {
  if (isObject(value)) return value;
  throw badProfile(`${name} is not a mapping`);
}

/** The mapping under a key. Undefined when it is missing. */
export function sectionOf(from: Section, key: string): Section | undefined {
  const value = from[key];
  return value === undefined ? undefined : asSection(value, key);
}

/** Exactly `count` finite numbers. */
export function numbersOf<T extends readonly number[]>(
  from: Section,
  key: string,
  count: T['length'],
): T {
  const value = from[key];
  if (isNumbers(value) && value.length === count) return value as unknown as T;
  throw badProfile(`${key} must be ${count} numbers`);
}

/** At least one finite number. */
export function listOf(from: Section, key: string): readonly number[] {
  const value = from[key];
  if (isNumbers(value) && value.length > 0) return value;
  throw badProfile(`${key} must be a list of numbers`);
}

export function numberOf(from: Section, key: string): number | undefined {
  const value = from[key];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
  throw badProfile(`${key} must be a number`);
}

export function textOf(from: Section, key: string): string | undefined {
  const value = from[key];
  if (value === undefined || typeof value === 'string') return value;
  throw badProfile(`${key} must be a text`);
}

export function booleanOf(from: Section, key: string): boolean | undefined {
  const value = from[key];
  if (value === undefined || typeof value === 'boolean') return value;
  throw badProfile(`${key} must be true or false`);
}

export function rangeOf(from: Section, key: string): Range | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (isNumbers(value) && value.length === 2) return value as unknown as Range;
  throw badProfile(`${key} must be two numbers`);
}

/** Refuses unknown keys, so that a misspelled key is not ignored. */
export function checkKeys(from: Section, known: readonly string[]): void {
  const unknown = Object.keys(from).find((key) => !known.includes(key));
  if (unknown !== undefined) throw badProfile(`it has an unknown key '${unknown}'`);
}

export function badProfile(why: string): HardwareError {
  return new HardwareError('bad-profile', `The step-time profile cannot be used: ${why}.`);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => Number.isFinite(each));
}

export function withoutUnset(from: Section): Section {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined));
}
