import { UsageError, givenFields } from '@baton/config';
import { isObject } from '@baton/kernel';

/** A user's figures for one kind of GPU. The shipped tables provide the others. */
export interface GivenRate {
  readonly usdPerHour?: number;
  readonly idleWatts?: number;
  readonly decodeWatts?: number;
  readonly prefillWatts?: number;
}

/** By the user's names of the GPUs. */
export type GivenRates = ReadonlyMap<string, GivenRate>;

const OPTION = '--gpu-price';
const FIELDS = {
  usd_per_hour: 'usdPerHour',
  idle_watts: 'idleWatts',
  decode_watts: 'decodeWatts',
  prefill_watts: 'prefillWatts',
} as const satisfies Readonly<Record<string, keyof GivenRate>>;
/** Upper limit of prices and watts. */
const MOST = 1_000_000;

/**
 * Reads `h100=2.5,a100=1.2` in dollars per GPU and hour, or the path of a YAML or JSON file of
 * GPUs, each a price or a map of `usd_per_hour`, `idle_watts`, `decode_watts` and `prefill_watts`.
 *
 * @throws UsageError, one sentence that names the GPU and the field
 */
export function readGpuPrices(text: string): GivenRates {
  const fields = givenFields(OPTION, text);
  if (fields === undefined) return new Map(text.split(',').map(pairOf));
  if (!isObject(fields.content)) {
    throw new UsageError(`${OPTION} ${fields.where} must be a map of GPUs to prices.`);
  }
  return new Map(Object.entries(fields.content).map(([gpu, value]) => [gpu, rateOf(gpu, value)]));
}

function pairOf(pair: string): [string, GivenRate] {
  const [, gpu, price] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(pair) ?? [];
  if (gpu === undefined || price === undefined) {
    throw new UsageError(`${OPTION} must be GPU=DOLLARS, such as h100=2.5; '${pair}' is not.`);
  }
  return [gpu, rateOf(gpu, Number(price))];
}

function rateOf(gpu: string, value: unknown): GivenRate {
  if (!isObject(value)) return { usdPerHour: amountOf(`${gpu}`, value) };
  const entries = Object.entries(value).map(([name, amount]) => {
    const known = Object.entries(FIELDS).find(([field]) => field === name);
    if (known === undefined) {
      throw new UsageError(
        `${OPTION}: '${gpu}.${name}' is unknown; the fields are ${Object.keys(FIELDS).join(', ')}.`,
      );
    }
    return [known[1], amountOf(`${gpu}.${name}`, amount)] as const;
  });
  return Object.fromEntries(entries);
}

function amountOf(field: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MOST) return value;
  throw new UsageError(`${OPTION}: '${field}' must be a number from 0 to ${MOST}.`);
}
