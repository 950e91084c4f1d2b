import { mean } from '@baton/kernel';
import type { OwnPoint, OwnTable } from './own-table';

interface Row {
  readonly place: readonly (string | number)[];
  readonly line: string;
}

interface Span {
  low: number;
  high: number;
}

/**
 * The text of a table merged with the user's points. On a curve with points of the user, only these
 * count from the first to the last of them. Before and after them, and on other curves, the shipped
 * ones apply. Several measurements of one place count with their mean.
 *
 * @param shipped  the text of the shipped table; undefined: there is none
 */
export function mergedTable(own: OwnTable, shipped: string | undefined, header: string): string {
  const spans = spansOf(own.values());
  const rows = [...own.values()].map(rowOf);
  for (const line of (shipped ?? '').split('\n').slice(1)) {
    if (line === '') continue;
    const place = line.slice(0, line.lastIndexOf(','));
    const curve = place.slice(0, place.lastIndexOf(','));
    const span = spans.get(curve);
    const at = Number(place.slice(curve.length + 1));
    if (span === undefined || at < span.low || at > span.high) {
      rows.push({ place: placeOf(place.split(',')), line });
    }
  }
  rows.sort((a, b) => compare(a.place, b.place));
  return `${header}\n${rows.map(({ line }) => line).join('\n')}\n`;
}

/** The mean of the measurements at one place, µs. */
export function meanUs({ us }: Pick<OwnPoint, 'us'>): number {
  return mean(us);
}

function spansOf(points: Iterable<OwnPoint>): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>();
  for (const { curve, place } of points) {
    const at = Number(place.at(-1));
    const span = spans.get(curve);
    if (span === undefined) spans.set(curve, { low: at, high: at });
    else [span.low, span.high] = [Math.min(span.low, at), Math.max(span.high, at)];
  }
  return spans;
}

function rowOf(point: OwnPoint): Row {
  return {
    place: placeOf(point.place),
    line: `${point.place.join(',')},${meanUs(point)}`,
  };
}

/** Fields as numbers where possible, so that 16 sorts before 128. */
function placeOf(fields: readonly string[]): (string | number)[] {
  return fields.map((field) => {
    const value = Number(field);
    return Number.isNaN(value) ? field : value;
  });
}

function compare(a: Row['place'], b: Row['place']): number {
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
