const [COMMA, POINT, NEWLINE, ZERO, NINE] = [44, 46, 10, 48, 57];
/** Whole numbers below it, and powers of ten up to 1e22, are exact; so then is their quotient. */
const EXACT = 2 ** 53;
const POWERS = Array.from({ length: 16 }, (_, digits) => 10 ** digits);

/** Part of a text: from its first character to before its end. */
export type TextRange = readonly [start: number, end: number];

export interface NumberRows {
  /** Fields of each row. */
  readonly columns: number;
  /** The part of the text that has the rows. */
  readonly range: TextRange;
}

type VisitRow = (row: Readonly<Float64Array>) => void;

/**
 * Calls `visit` with the numbers of each row after the header. The next row overwrites `row`. It
 * reads digits without a string for each field, because tables have tens of thousands of rows.
 *
 * @param columns  fields of each row
 */
export function forEachNumberRow(csv: string, columns: number, visit: VisitRow): void {
  forEachNumberRowIn(csv, { columns, range: behindHeader(csv) }, visit);
}

/** Like `forEachNumberRow`, for a part of the text. */
export function forEachNumberRowIn(
  csv: string,
  { columns, range: [start, end] }: NumberRows,
  visit: VisitRow,
): void {
  const row = new Float64Array(columns);
  for (let at = start; at < end;) {
    if (csv.charCodeAt(at) === NEWLINE) {
      at++;
      continue;
    }
    at = readNumbers(csv, at, row);
    visit(row);
  }
}

/**
 * Calls `visit` with each run of rows whose leading fields are equal, and with these fields. Such
 * rows must be adjacent: shipped tables are sorted, and `mergedTable` sorts a user's own.
 */
export function forEachRun(
  csv: string,
  fields: number,
  visit: (key: readonly string[], range: TextRange) => void,
): void {
  for (let [at, end] = behindHeader(csv); at < end;) {
    const start = at;
    const key = csv.slice(start, behindFields(csv, start, fields));
    at = behindRun(csv, key, start);
    visit(key.split(',').slice(0, fields), [start, at]);
  }
}

/** Looks at few of the rows: in strides that double, and then between the last two. */
function behindRun(csv: string, key: string, start: number): number {
  let low = start;
  let high = rowBehind(csv, low);
  for (let stride = key.length; high < csv.length && csv.startsWith(key, high); stride *= 2) {
    low = high;
    high = rowBehind(csv, low + stride);
  }
  for (;;) {
    const middle = rowBehind(csv, (low + high) >> 1);
    if (middle >= high) break;
    if (csv.startsWith(key, middle)) low = middle;
    else high = middle;
  }
  while (low < high && csv.startsWith(key, low)) low = rowBehind(csv, low);
  return low;
}

/** Start of the first row after a place; the end of the text when there is none. */
function rowBehind(csv: string, place: number): number {
  const end = csv.indexOf('\n', place);
  return end < 0 ? csv.length : end + 1;
}

function behindHeader(csv: string): TextRange {
  const start = csv.indexOf('\n') + 1;
  return [start === 0 ? csv.length : start, csv.length];
}

/** The position after the comma of the last of this many fields. */
export function behindFields(csv: string, start: number, fields: number): number {
  let at = start;
  for (let field = 0; field < fields; field++) at = csv.indexOf(',', at) + 1;
  return at;
}

/** Fills `row` with the fields from `start` on; returns where the next row begins. */
export function readNumbers(csv: string, start: number, row: Float64Array): number {
  let from = start;
  for (let column = 0; column < row.length; column++) {
    const to = readNumber(csv, from, { row, column });
    if (csv.charCodeAt(to) !== COMMA) {
      row.fill(NaN, column + 1);
      return to + 1;
    }
    from = to + 1;
  }
  const end = csv.indexOf('\n', from);
  return end < 0 ? csv.length : end + 1;
}

/** Returns where the field ends: at a comma, a line end, or the end of the text. */
function readNumber(
  csv: string,
  start: number,
  into: { readonly row: Float64Array; readonly column: number },
): number {
  let [at, digits, decimals, isDecimal] = [start, 0, 0, false];
  for (; at < csv.length; at++) {
    const code = csv.charCodeAt(at);
    if (code >= ZERO && code <= NINE) {
      digits = digits * 10 + code - ZERO;
      if (isDecimal) decimals++;
    } else if (code === POINT && !isDecimal) isDecimal = true;
    else break;
  }
  const code = csv.charCodeAt(at);
  const isPlain = at > start && digits < EXACT && decimals < POWERS.length;
  const isWhole = at === csv.length || code === COMMA || code === NEWLINE;
  if (isPlain && isWhole) {
    into.row[into.column] = digits / POWERS[decimals]!;
    return at;
  }
  return readOther(csv, start, into);
}

/** An exponent, a sign, more digits than fit, or no number at all. */
function readOther(
  csv: string,
  start: number,
  { row, column }: { readonly row: Float64Array; readonly column: number },
): number {
  let end = start;
  while (end < csv.length && csv.charCodeAt(end) !== COMMA && csv.charCodeAt(end) !== NEWLINE) {
    end++;
  }
  row[column] = Number(csv.slice(start, end));
  return end;
}
