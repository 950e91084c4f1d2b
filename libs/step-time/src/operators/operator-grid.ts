import { Curve, lowerBound } from './curve';
import { type Near, NearestPoints, type Slice } from './nearest-points';

/** Three coordinates of a measured operator, outermost first. */
export type OperatorPoint = readonly [outer: number, middle: number, inner: number];

export interface GridRules {
  /** Least time that the data sheet allows, µs. */
  speedOfLightUs(outer: number, middle: number, inner: number): number;
  /** The middle axis is a length whose square counts: lines are straight in √time along it. */
  readonly isSquareInMiddle: boolean;
}

const NOTHING: Slice = { keys: [], logs: [], curves: [] };

/** Number of neighbours used outside of the measurements; one more limits their reach. */
const NEIGHBOURS = 4;

/**
 * Measured times on three axes, possibly without a corner. Between points lines are straight, axis
 * by axis. A missing side of a bracket is scaled from the other by the speed of light. Outside, the
 * utilisation of the nearest points continues. Rules: data/operators/COMPOSITION.md.
 */
export class OperatorGrid {
  private readonly keys: number[] = [];
  private readonly logs: number[] = [];
  private readonly slices: Slice[] = [];
  private around: Around | undefined;

  constructor(private readonly rules: GridRules) {}

  /** Points are added in rising order of their coordinates. */
  add(at: OperatorPoint, us: number): void {
    const [outer, middle, inner] = at;
    if (this.keys.at(-1) !== outer) {
      this.keys.push(outer);
      this.logs.push(Math.log2(outer));
      this.slices.push({ keys: [], logs: [], curves: [] });
    }
    const slice = this.slices.at(-1)!;
    if (slice.keys.at(-1) !== middle) {
      slice.keys.push(middle);
      slice.logs.push(Math.log2(middle));
      slice.curves.push(new Curve());
    }
    slice.curves.at(-1)!.add(inner, us);
  }

  /** Time in µs. */
  timeUs(outer: number, middle: number, inner: number): number {
    return this.within(outer, middle, inner) ?? this.beyond([outer, middle, inner]);
  }

  /** True when the point lies between measured ones on every axis. */
  covers(outer: number, middle: number, inner: number): boolean {
    return around(this.keys, outer).every((slice) => {
      const { keys, curves } = this.slices[slice] ?? NOTHING;
      return around(keys, middle).every((row) => curves[row]?.covers(inner) ?? false);
    });
  }

  private within(outer: number, middle: number, inner: number): number | undefined {
    return between(this.keys, outer, {
      at: (index) => this.inSlice(index, middle, inner),
      scale: (key) => this.ratio([outer, middle, inner], [key, middle, inner]),
      isSquare: false,
    });
  }

  private inSlice(index: number, middle: number, inner: number): number | undefined {
    const outer = this.keys[index]!;
    const { keys, curves } = this.slices[index]!;
    return between(keys, middle, {
      at: (row) => curves[row]!.at(inner),
      scale: (key) => this.ratio([outer, middle, inner], [outer, key, inner]),
      isSquare: this.rules.isSquareInMiddle,
    });
  }

  private ratio(wanted: OperatorPoint, known: OperatorPoint): number {
    return this.rules.speedOfLightUs(...wanted) / this.rules.speedOfLightUs(...known);
  }

  private beyond(wanted: OperatorPoint): number {
    const ranked = this.nearest(wanted);
    const speedOfLight = this.rules.speedOfLightUs(...wanted);
    const [nearest] = ranked;
    if (nearest!.distance < 1e-9) return speedOfLight / nearest!.utilisation;
    const reach = ranked.at(-1)!.distance;
    let weights = 0;
    let sum = 0;
    for (const { distance, utilisation } of ranked.slice(0, NEIGHBOURS)) {
      const weight = ((reach - distance) / (reach * distance)) ** 2;
      weights += weight;
      sum += weight * utilisation;
    }
    return speedOfLight / (weights > 0 ? sum / weights : nearest!.utilisation);
  }

  /** The nearest points in rising order, one more than count. */
  private nearest([outer, middle, inner]: OperatorPoint): readonly Near[] {
    const place = { middle: Math.log2(middle), inner: Math.log2(inner) };
    const nearest = new NearestPoints(NEIGHBOURS + 1, place, (row, x, key) =>
      this.rules.speedOfLightUs(key, row, x),
    );
    for (const { slice, key, across } of this.slicesAround(outer)) {
      if (across >= nearest.reach) break;
      nearest.add(slice, key, across);
    }
    return nearest.found;
  }

  /** The nearest first. The slices around the last coordinate are kept. */
  private slicesAround(outer: number): Around['slices'] {
    if (this.around?.outer === outer) return this.around.slices;
    const log = Math.log2(outer);
    const slices = this.slices
      .map((slice, i) => ({ slice, key: this.keys[i]!, across: Math.abs(this.logs[i]! - log) }))
      .sort((a, b) => a.across - b.across);
    this.around = { outer, slices };
    return slices;
  }
}

/** Slices by their distance from a coordinate, in octaves. */
interface Around {
  readonly outer: number;
  readonly slices: readonly { slice: Slice; key: number; across: number }[];
}

/**
 * Neighbours of x: its own index, or those of the keys around it. Beyond an end, an index outside
 * of the array.
 */
function around(keys: readonly number[], x: number): number[] {
  const above = lowerBound(keys, x);
  return keys[above] === x ? [above] : [above - 1, above];
}

interface Bracket {
  at(index: number): number | undefined;
  /** The ratio of the speed-of-light time at the wanted place to that at `key`. */
  scale(key: number): number;
  readonly isSquare: boolean;
}

function between(keys: readonly number[], x: number, bracket: Bracket): number | undefined {
  const above = lowerBound(keys, x);
  if (keys[above] === x) return bracket.at(above);
  if (above === 0 || above === keys.length) return undefined;
  const [low, high] = [bracket.at(above - 1), bracket.at(above)];
  const [lowKey, highKey] = [keys[above - 1]!, keys[above]!];
  if (low === undefined) return high === undefined ? undefined : high * bracket.scale(highKey);
  if (high === undefined) return low * bracket.scale(lowKey);
  const share = (x - lowKey) / (highKey - lowKey);
  if (!bracket.isSquare) return low + (high - low) * share;
  return (Math.sqrt(low) + (Math.sqrt(high) - Math.sqrt(low)) * share) ** 2;
}
