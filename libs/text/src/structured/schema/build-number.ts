import type { RandomStream } from '@baton/kernel';
import { jsonKey } from '../json';
import { isInBounds } from './satisfies';
import type { SchemaNode } from './schema-node';

/** Width of the range of numbers where a schema leaves it open. */
const USUAL_RANGE = 100;
const WIDEST_RANGE = 10_000;
/** Largest quotient at which neighbouring integers are still one step apart. */
const MAX_QUOTIENT = Number.MAX_SAFE_INTEGER;
const MAX_PROBES = 2000;
const MAX_SCALE = 40;
/** Largest common step. Above it, 0 is the only multiple that a number can hold. */
const MAX_STEP = 10n ** 400n;

export interface NumberWish {
  readonly nodes: readonly SchemaNode[];
  readonly isInteger: boolean;
  readonly random: RandomStream;
  /** Keys of values that are already in use. */
  readonly avoid: ReadonlySet<string>;
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A number within all bounds that is a multiple of all steps. Undefined: there is none. */
export function buildNumber(wish: NumberWish): number | undefined {
  const steps = wish.nodes.flatMap(({ number }) => number.multipleOf ?? []);
  const range = rangeOf(wish.nodes, Math.max(1, ...steps));
  if (range.low > range.high) return undefined;
  if (wish.isInteger) steps.push(1);
  return steps.length === 0 ? anyNumber(wish, range) : multiple(wish, range, steps);
}

function rangeOf(nodes: readonly SchemaNode[], step: number): Range {
  const lows = nodes.flatMap(({ number: n }) => [n.minimum ?? [], n.exclusiveMinimum ?? []].flat());
  const highs = nodes.flatMap(({ number: n }) =>
    [n.maximum ?? [], n.exclusiveMaximum ?? []].flat(),
  );
  const low = Math.max(-Infinity, ...lows);
  const high = Math.min(Infinity, ...highs);
  const width = Math.max(USUAL_RANGE, step * 10);
  if (low > high) return { low, high };
  if (low === -Infinity && high === Infinity) return { low: 0, high: width };
  if (high === Infinity) return { low, high: low <= 0 && low > -width ? width : low + width };
  if (low === -Infinity) return { low: high >= 0 && high < width ? 0 : high - width, high };
  return high - low <= Math.max(WIDEST_RANGE, width)
    ? { low, high }
    : nearZero({ low, high }, width);
}

/** The part of a wide range that is nearest to zero. */
function nearZero({ low, high }: Range, width: number): Range {
  if (low > 0) return { low, high: Math.min(high, low + width) };
  if (high < 0) return { low: Math.max(low, high - width), high };
  return high >= width ? { low: 0, high: width } : { low: Math.max(low, -width), high };
}

function anyNumber(wish: NumberWish, { low, high }: Range): number | undefined {
  const { nodes, random, avoid, isInteger } = wish;
  const isGood = (value: number): boolean =>
    (!isInteger || Number.isInteger(value)) &&
    nodes.every((node) => isInBounds(node, value)) &&
    !avoid.has(jsonKey(value));
  for (let i = 0; i < 64; i++) {
    const drawn = low + random.unit() * (high - low);
    const rounded = [Math.round(drawn * 100) / 100, Math.round(drawn * 10) / 10];
    const found = [...rounded, drawn].find(isGood);
    if (found !== undefined) return found;
  }
  return [low / 2 + high / 2, low, high].find(isGood);
}

/**
 * A multiple of all steps, computed as an integer times an exact decimal step, so that rounding
 * errors do not add up.
 */
function multiple(wish: NumberWish, { low, high }: Range, steps: number[]): number | undefined {
  const step = commonStep(steps);
  if (step === undefined) return undefined;
  const size = Number(`${step.units}e-${step.scale}`);
  const first = Math.ceil(low / size - 1e-9);
  const last = Math.floor(high / size + 1e-9);
  if (!(first <= last)) return undefined;
  if (Math.max(Math.abs(first), Math.abs(last)) > MAX_QUOTIENT)
    return anyNumber(wish, { low, high });
  const count = last - first + 1;
  const start = Math.floor(wish.random.unit() * count);
  for (let probe = 0; probe < Math.min(count, MAX_PROBES); probe++) {
    const times = BigInt(first + ((start + probe) % count));
    const value = Number(`${times * step.units}e-${step.scale}`);
    if (wish.isInteger && !Number.isInteger(value)) continue;
    const isGood = wish.nodes.every((node) => isInBounds(node, value));
    if (isGood && !wish.avoid.has(jsonKey(value))) return value;
  }
  return undefined;
}

/** `units` times ten to the power of minus `scale`. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** The least common multiple of decimal steps. */
function commonStep(steps: readonly number[]): Decimal | undefined {
  const decimals = steps.map(decimalOf);
  const scale = decimals.reduce((most, one) => Math.max(most, one.scale), 0);
  if (scale > MAX_SCALE) return undefined;
  let units = 1n;
  for (const one of decimals) {
    const step = one.units * 10n ** BigInt(scale - one.scale);
    units = (units / gcd(units, step)) * step;
    if (units > MAX_STEP) return undefined;
  }
  return { units, scale };
}

function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
