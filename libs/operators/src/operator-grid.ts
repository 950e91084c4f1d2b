import { Curve, lowerBound } from './curve';

/** Three coordinates of a measured operator, outermost first. */
export type OperatorPoint = readonly [outer: number, middle: number, inner: number];

export interface GridRules {
  /** Least time that the data sheet allows, µs. */
  speedOfLightUs(outer: number, middle: number, inner: number): number;
  /** The middle axis is a length whose square counts: lines are straight in √time along it. */
  readonly isSquareInMiddle: boolean;
}

interface Slice {
  readonly keys: number[];
  /** Of the keys, to base 2: distances are in octaves. */
  readonly logs: number[];
  readonly curves: Curve[];
}

const NOTHING: Slice = { keys: [], logs: [], curves: [] };

/** Neighbours that decide outside of what was measured, and the one that bounds their reach. */
const NEIGHBOURS = 4;

/**
 * Measured times on three axes, possibly with a corner left out. Between points lines are straight,
 * axis by axis; where one side of a bracket is missing, the other is scaled by the speed of light;
 * outside, the utilisation of the nearest points goes on. Rules: data/operators/COMPOSITION.md.
 */
export class OperatorGrid {
  private readonly keys: number[] = [];
  private readonly logs: number[] = [];
  private readonly slices: Slice[] = [];

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
  us(outer: number, middle: number, inner: number): number {
    return this.within(outer, middle, inner) ?? this.beyond([outer, middle, inner]);
  }

  /** Whether the point lies between measured ones on every axis. */
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

  /**
   * The nearest points in rising order, one more than count; what lies too far is passed over
   * whole.
   */
  private nearest([outer, middle, inner]: OperatorPoint): Near[] {
    const found: Near[] = [];
    const reach = (): number => found[NEIGHBOURS]?.distance ?? Infinity;
    const [outerLog, middleLog] = [Math.log2(outer), Math.log2(middle)];
    const innerLog = Math.log2(inner);
    const slices = this.slices
      .map((slice, i) => ({ slice, key: this.keys[i]!, apart: Math.abs(this.logs[i]! - outerLog) }))
      .sort((a, b) => a.apart - b.apart);
    const bound = boundOf(slices[0]!, middle, inner);
    for (const { slice, key, apart: across } of slices) {
      if (across >= reach() || across > bound) break;
      for (let row = 0; row < slice.keys.length; row++) {
        const down = length(across, slice.logs[row]! - middleLog);
        if (down >= reach() || down > bound) continue;
        const curve = slice.curves[row]!;
        const { xs, us, logs } = curve;
        const octaves = Math.sqrt(Math.min(reach(), bound) ** 2 - down ** 2);
        const [from, to] = curve.within(octaves, inner);
        for (let i = from; i < to; i++) {
          const distance = length(down, logs[i]! - innerLog);
          if (distance >= reach()) continue;
          const fastest = this.rules.speedOfLightUs(key, slice.keys[row]!, xs[i]!);
          keepNear(found, { distance, utilisation: fastest / us[i]! });
        }
      }
    }
    return found;
  }
}

/**
 * A distance within which there are enough points for sure: the first ones in the nearest row of a
 * slice. What lies farther is never among the nearest.
 */
function boundOf(
  { slice, apart: across }: { readonly slice: Slice; readonly apart: number },
  middle: number,
  inner: number,
): number {
  const { keys, curves } = slice;
  const above = Math.min(lowerBound(keys, middle), keys.length - 1);
  const { xs } = curves[above]!;
  const count = NEIGHBOURS + 1;
  if (xs.length < count) return Infinity;
  const start = lowerBound(xs, inner) - (count >> 1);
  const from = Math.max(0, Math.min(start, xs.length - count));
  const down = length(across, apart(keys[above]!, middle));
  const ends = [apart(xs[from]!, inner), apart(xs[from + count - 1]!, inner)];
  return Math.max(...ends.map((end) => length(down, end)));
}

interface Near {
  readonly distance: number;
  readonly utilisation: number;
}

function keepNear(found: Near[], near: Near): void {
  const at = found.findIndex((other) => other.distance > near.distance);
  found.splice(at < 0 ? found.length : at, 0, near);
  if (found.length > NEIGHBOURS + 1) found.pop();
}

/** Where x lies: its own index, or those of its neighbours; one that no array has beyond an end. */
function around(keys: readonly number[], x: number): number[] {
  const above = lowerBound(keys, x);
  return keys[above] === x ? [above] : [above - 1, above];
}

/** Of the hypotenuse; `Math.hypot` takes many times as long. */
function length(a: number, b: number): number {
  return Math.sqrt(a * a + b * b);
}

/** Octaves between two positive values. */
function apart(a: number, b: number): number {
  return Math.abs(Math.log2(a / b));
}

interface Bracket {
  at(index: number): number | undefined;
  /** How many times the speed of light at the wanted place is that at `key`. */
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
