import type { CellValue } from './sections';
import { formatNumber } from './format-number';

export interface ConsoleColumn {
  readonly name: string;
  readonly align?: 'left' | 'right';
}

const GAP = '  ';

/**
 * Rows below their headings for a terminal, columns as wide as their content. Ends with a line
 * break.
 */
export function consoleTable(
  columns: readonly ConsoleColumn[],
  rows: readonly (readonly CellValue[])[],
): string {
  const texts = rows.map((row) => row.map((cell) => cellText(cell)));
  const widths = columns.map(({ name }, column) => {
    return Math.max(name.length, ...texts.map((row) => row[column]?.length ?? 0));
  });
  const line = (cells: readonly string[]): string => {
    const padded = columns.map(({ align }, column) => {
      const text = cells[column] ?? '';
      const width = widths[column]!;
      return align === 'right' ? text.padStart(width) : text.padEnd(width);
    });
    return `${padded.join(GAP).trimEnd()}\n`;
  };
  return [columns.map(({ name }) => name), ...texts].map(line).join('');
}

function cellText(cell: CellValue): string {
  return typeof cell === 'string' ? cell : formatNumber(cell);
}
