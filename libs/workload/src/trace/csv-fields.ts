import { csvFields, type Micros } from '@baton/kernel';

const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const US_PER_SECOND = 1_000_000;
/** Every number of this many digits is exact in a double. */
const EXACT_DIGITS = 15;
const DECIMAL = /^\d+(\.\d*)?([eE][+-]?\d+)?$/;

/**
 * The fields of one line of comma-separated values, found without substrings unless the line has
 * quotes. One object serves all lines of a file.
 */
export class CsvFields {
  private line = '';
  /** Start of field i. An additional entry holds the end of the line, plus 1. */
  private readonly begins: Int32Array;

  constructor(readonly columns: number) {
    this.begins = new Int32Array(columns + 1);
  }

  /**
   * Finds the fields of a line and returns their number. The other methods are valid only when it
   * equals `columns`.
   */
  read(line: string): number {
    if (line.includes('"')) return this.readQuoted(line);
    this.line = line;
    let field = 0;
    for (let i = 0; i < line.length; i++) {
      if (line.charCodeAt(i) !== COMMA) continue;
      field += 1;
      if (field <= this.columns) this.begins[field] = i + 1;
    }
    field += 1;
    if (field <= this.columns) this.begins[field] = line.length + 1;
    return field;
  }

  private readQuoted(line: string): number {
    const fields = csvFields(line);
    this.line = fields.join(',');
    let begin = 0;
    for (let field = 0; field < Math.min(fields.length, this.columns); field++) {
      this.begins[field] = begin;
      begin += fields[field]!.length + 1;
      this.begins[field + 1] = begin;
    }
    return fields.length;
  }

  text(field: number): string {
    return this.line.slice(this.begins[field]!, this.begins[field + 1]! - 1);
  }

  /** A whole number of at most 15 digits; -1 for anything else. */
  count(field: number): number {
    const to = this.begins[field + 1]! - 1;
    const from = this.begins[field]!;
    if (from === to || to - from > EXACT_DIGITS) return -1;
    return digits(this.line, from, to);
  }

  /** Seconds >= 0 with or without decimals, as whole µs; -1 for anything else. */
  seconds(field: number): Micros {
    const from = this.begins[field]!;
    const to = this.begins[field + 1]! - 1;
    const dot = this.line.indexOf('.', from);
    if (dot > from && dot < to - 1 && to - from <= EXACT_DIGITS) {
      const whole = digits(this.line, from, dot);
      const fraction = digits(this.line, dot + 1, to);
      if (whole >= 0 && fraction >= 0) {
        return (
          whole * US_PER_SECOND + Math.round((fraction / 10 ** (to - dot - 1)) * US_PER_SECOND)
        );
      }
    }
    const text = this.text(field);
    return DECIMAL.test(text) ? Math.round(Number(text) * US_PER_SECOND) : -1;
  }
}

/** The number written in digits in [from, to). -1 for any other text. */
export function digits(line: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const code = line.charCodeAt(i);
    if (code < ZERO || code > NINE) return -1;
    value = value * 10 + (code - ZERO);
  }
  return value;
}
