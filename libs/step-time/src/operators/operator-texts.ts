/**
 * The source of the texts of measured operator tables. A pure lib reads no file: its caller
 * provides the text of `data/operators/<path>`, decompressed.
 */
export interface OperatorTexts {
  /**
   * Text of `<path>`, such as `systems.json` or `h200_sxm/gemm.bf16.csv`; undefined: no such file.
   */
  read(path: string): string | undefined;
}

/** Calls `visit` with the fields of each row after the header. */
export function forEachRow(csv: string, visit: (fields: readonly string[]) => void): void {
  let start = csv.indexOf('\n') + 1;
  while (start > 0 && start < csv.length) {
    const end = csv.indexOf('\n', start);
    const line = end < 0 ? csv.slice(start) : csv.slice(start, end);
    if (line.length > 0) visit(line.split(','));
    start = end + 1;
  }
}
