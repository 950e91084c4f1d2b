import type { CostRates, EngineRoleName, GpuRate, GpuWatts } from '@baton/analysis';
import { type BatonConfig, configForStage, UsageError, gpuOf } from '@baton/config';
import { findGpu, GPU_POWER, GPU_PRICES, HardwareError } from '@baton/hardware';
import type { GivenRate, GivenRates } from './read-gpu-prices';

/**
 * Prices and watts of the GPUs of each role: the given ones, else those of the shipped tables.
 *
 * @throws UsageError when a GPU has no price, or a given name is not a GPU
 */
export function ratesOf(
  config: BatonConfig,
  roles: readonly EngineRoleName[],
  given: GivenRates,
): CostRates {
  const own = roles.map((role) => [role, gpuOf(configForStage(config, role).gpu).name] as const);
  const used = own.map(([, gpu]) => gpu);
  const rates = new Map([...given].map(([name, rate]) => [nameOf(name, used), rate]));
  return Object.fromEntries(own.map(([role, gpu]) => [role, rateOf(gpu, rates.get(gpu))]));
}

/** The same, or undefined when a GPU has no price. */
export function listedRates(...given: Parameters<typeof ratesOf>): CostRates | undefined {
  try {
    return ratesOf(...given);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

function nameOf(given: string, used: readonly string[]): string {
  if (used.includes(given)) return given;
  try {
    return findGpu(given).name;
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(`--gpu-price: ${error.message}`);
    throw error;
  }
}

function rateOf(gpu: string, given: GivenRate = {}): GpuRate {
  const listed = GPU_PRICES.find((row) => row.gpu === gpu);
  const usdPerHour = given.usdPerHour ?? listed?.usdPerHour;
  if (usdPerHour === undefined) {
    throw new UsageError(`The GPU ${gpu} has no price. Add --gpu-price ${gpu}=DOLLARS.`);
  }
  const isListed = given.usdPerHour === undefined && listed !== undefined;
  return {
    gpu,
    usdPerHour,
    priceSource: isListed ? `${listed.source}, ${listed.asOf}` : 'given',
    ...wattsOf(gpu, given),
  };
}

function wattsOf(gpu: string, given: GivenRate): Pick<GpuRate, 'watts' | 'wattsSource'> {
  const listed = GPU_POWER.find((row) => row.gpu === gpu);
  const parts = {
    idle: given.idleWatts ?? listed?.idleWatts,
    decode: given.decodeWatts ?? listed?.decodeWatts,
    prefill: given.prefillWatts ?? listed?.prefillWatts,
  };
  const isGiven = [given.idleWatts, given.decodeWatts, given.prefillWatts].some(
    (watts) => watts !== undefined,
  );
  const source = listed?.source ?? 'not known';
  return {
    watts: isWhole(parts) ? parts : undefined,
    wattsSource: isGiven ? `given; else ${source}` : source,
  };
}

function isWhole(parts: Readonly<Record<keyof GpuWatts, number | undefined>>): parts is GpuWatts {
  return Object.values(parts).every((watts) => watts !== undefined);
}
