import { hashString, isObject, reasonOf } from '@baton/kernel';
import { MOST_TOKENS } from '../workload';
import { quoted, TraceError } from './trace-reader';

/** The fields of one line of JSON. Errors name file and line. */
export class TraceFields {
  private constructor(
    /** The fields as written. */
    readonly values: Readonly<Record<string, unknown>>,
    private readonly file: string,
    private readonly line: number,
  ) {}

  /** @throws TraceError when the text is not a JSON object */
  static parse(text: string, file: string, line: number): TraceFields {
    let value: unknown;
    try {
      value = JSON.parse(withLargeIntegers(text));
    } catch (error) {
      throw new TraceError(file, line, `${quoted(text)} is broken JSON (${reasonOf(error)})`);
    }
    if (!isObject(value)) {
      throw new TraceError(file, line, `${quoted(text)} is not a JSON object`);
    }
    return new TraceFields(value as Record<string, unknown>, file, line);
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null;
  }

  names(): string[] {
    return Object.keys(this.values);
  }

  tokens(name: string): number {
    return this.integer(name, 0, MOST_TOKENS);
  }

  integer(name: string, from: number, to: number): number {
    const value = this.values[name];
    if (Number.isInteger(value) && Number(value) >= from && Number(value) <= to)
      return Number(value);
    throw this.fieldError(name, `is not a whole number from ${from} to ${to}`);
  }

  number(name: string, to: number): number {
    const value = this.values[name];
    if (typeof value === 'number' && value >= 0 && value <= to) return value;
    throw this.fieldError(name, `is not a number from 0 to ${to}`);
  }

  /**
   * The key of a field if it is there, in [1, 2^53): a number above 0 itself, else the hash of the
   * text or of the digits.
   */
  key(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.values[name];
    if (typeof value === 'string' && value !== '') return hashString(value) || 1;
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      return value > 0 ? value : hashString(String(value)) || 1;
    }
    throw this.fieldError(name, 'is neither text nor a whole number');
  }

  text(name: string, longest: number): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.values[name];
    if (typeof value === 'string' && value !== '' && value.length <= longest) return value;
    throw this.fieldError(name, `is not a text of 1 to ${longest} characters`);
  }

  choice<const C extends string>(name: string, choices: readonly C[]): C {
    const found = choices.find((each) => each === this.values[name]);
    if (found !== undefined) return found;
    throw this.fieldError(name, `is none of ${choices.join(', ')}`);
  }

  /** An object within this one, if it is there. */
  object(name: string): TraceFields | undefined {
    if (!this.has(name)) return undefined;
    const value = this.values[name];
    if (typeof value === 'object' && !Array.isArray(value)) {
      return new TraceFields(value as Record<string, unknown>, this.file, this.line);
    }
    throw this.fieldError(name, 'is not an object');
  }

  /** A list, empty if it is not there. Its entries are not checked. */
  list(name: string): readonly unknown[] {
    if (!this.has(name)) return [];
    const value = this.values[name];
    if (Array.isArray(value)) return value;
    throw this.fieldError(name, 'is not a list');
  }

  fieldError(name: string, why: string): TraceError {
    if (!this.has(name)) return this.error(`${name} is missing`);
    return this.error(`${name} ${this.shown(this.values[name])} ${why}`);
  }

  /** A value as the file has it. */
  shown(value: unknown): string {
    return quoted(typeof value === 'string' ? value : JSON.stringify(value));
  }

  error(reason: string): TraceError {
    return new TraceError(this.file, this.line, reason);
  }
}

/** A text, or a number as JSON writes it. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_DIGITS = /\d{16}/;

/**
 * The JSON with integers beyond 2^53 as texts, because numbers of JavaScript would merge them. They
 * are identities in traces: no count is as large.
 */
function withLargeIntegers(json: string): string {
  if (!LONG_DIGITS.test(json)) return json;
  return json.replace(TOKEN, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
}
