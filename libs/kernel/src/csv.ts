/** A row below the header, by the names of its columns. Missing cells are empty. */
export interface CsvRow {
  /** Number of its line in the text, from 1. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

export interface Csv {
  /** Names of the columns, in the order of the file. */
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
}

/**
 * Reads comma-separated values with a header (RFC 4180, but a field has no line break). A byte
 * order mark, blank lines, lines that begin with `#`, and spaces around fields are left out.
 *
 * Tables of tens of thousands of numbers, and traces of millions of lines, have faster readers of
 * their own: `operators/number-rows.ts` in step-time and `trace/csv-fields.ts` in workload.
 */
export function parseCsv(text: string): Csv {
  let columns: readonly string[] | undefined;
  const rows: CsvRow[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fields = csvFields(line);
    if (columns === undefined) columns = fields;
    else rows.push({ line: index + 1, cells: cellsOf(columns, fields) });
  }
  return { columns: columns ?? [], rows };
}

function cellsOf(columns: readonly string[], fields: readonly string[]): CsvRow['cells'] {
  return Object.fromEntries(columns.map((name, i) => [name, fields[i] ?? '']));
}

/** A field in quotes, in which `""` is a quote, or any text up to a comma. Matches everywhere. */
const FIELD = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/y;

/** The fields of one line, without spaces and quotes around them. */
export function csvFields(line: string): string[] {
  if (!line.includes('"')) return line.split(',').map((field) => field.trim());
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (let hasMore = true; hasMore;) {
    const [whole = '', inQuotes, plain = ''] = FIELD.exec(line) ?? [];
    fields.push(inQuotes?.replaceAll('""', '"') ?? plain.trim());
    hasMore = whole.endsWith(',');
  }
  return fields;
}
