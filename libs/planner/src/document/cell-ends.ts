import { type Interval, roundTo } from '@baton/analysis';
import { formatNumber } from '@baton/report';

/** The ends of an interval in a document. Null: no interval. */
export type Ends = Interval | null;

export function roundedEnds([low, high]: Interval, factor = 1): Ends {
  return [roundTo(low * factor, 6) ?? 0, roundTo(high * factor, 6) ?? 0];
}

/** `[190, 241]` as the cell below a figure, each end times `factor`. Empty without an interval. */
export function endsCell(ends: Ends | undefined, factor = 1): string {
  return ends ? `[${ends.map((end) => formatNumber(end * factor)).join(', ')}]` : '';
}

/** Each figure of a row with its interval in one cell. */
export function cellsWithEnds(cells: readonly string[], ends: readonly string[]): string[] {
  return cells.map((cell, i) => `${cell} ${ends[i] ?? ''}`.trimEnd());
}
