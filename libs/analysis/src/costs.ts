import { usToSeconds } from '@baton/kernel';
import { roundTo } from './round-to';
import type { EngineRecord, EngineRoleName } from './run-record';

/** Watts of one GPU by the activity of its engine. */
export interface GpuWatts {
  readonly idle: number;
  readonly decode: number;
  readonly prefill: number;
}

/** Price and power of one kind of GPU. */
export interface GpuRate {
  readonly gpu: string;
  readonly usdPerHour: number;
  /** Source and date of the price. */
  readonly priceSource: string;
  /** Undefined: unknown. */
  readonly watts: GpuWatts | undefined;
  readonly wattsSource: string;
}

/** The GPUs of each role. */
export type CostRates = Readonly<Partial<Record<EngineRoleName, GpuRate>>>;

type Figure = number | null;

/** One kind of GPU of a run. */
export interface GpuCost {
  readonly gpu: string;
  readonly gpu_hours: Figure;
  readonly usd_per_gpu_hour: number;
  readonly usd: Figure;
  readonly energy_kwh: Figure;
  readonly price_source: string;
  readonly watts: GpuWatts | null;
  readonly watts_source: string;
}

/** Cost and energy of the GPUs of a run; docs/planning.md defines each name. */
export interface CostSummary {
  readonly gpu_hours: Figure;
  readonly usd: Figure;
  readonly usd_per_hour: Figure;
  readonly usd_per_million_output_tokens: Figure;
  readonly usd_per_million_tokens: Figure;
  readonly usd_per_thousand_requests: Figure;
  readonly energy_kwh: Figure;
  readonly mean_watts: Figure;
  readonly joules_per_output_token: Figure;
  readonly joules_per_request: Figure;
  readonly by_gpu: readonly GpuCost[];
}

/** The output of a run: completed requests and their tokens. */
export interface Served {
  readonly seconds: number;
  readonly completed: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

const SECONDS_PER_HOUR = 3_600;
const JOULES_PER_KWH = 3.6e6;

/**
 * GPU-hours from the instant at which each engine is ready to its leaving, their price, and the
 * energy of the GPUs: watts of the state times the time in it. A step that computes any prompt
 * counts as prefill.
 */
export function costSummary(
  engines: readonly EngineRecord[],
  rates: CostRates,
  served: Served,
): CostSummary {
  const kinds = new Map<string, { rate: GpuRate; hours: number; joules: number }>();
  for (const engine of engines) {
    const rate = rates[engine.role];
    if (rate === undefined) continue;
    const kind = kinds.get(rate.gpu) ?? { rate, hours: 0, joules: 0 };
    kind.hours += (engine.gpus * usToSeconds(engine.upUs)) / SECONDS_PER_HOUR;
    kind.joules += joulesOf(engine, rate.watts);
    kinds.set(rate.gpu, kind);
  }
  const all = [...kinds.values()];
  const usd = all.reduce((sum, { rate, hours }) => sum + hours * rate.usdPerHour, 0);
  const joules = all.reduce((sum, kind) => sum + kind.joules, 0);
  const tokens = served.promptTokens + served.outputTokens;
  return {
    gpu_hours: roundTo(
      all.reduce((sum, { hours }) => sum + hours, 0),
      6,
    ),
    usd: roundTo(usd, 6),
    usd_per_hour: roundTo((usd / served.seconds) * SECONDS_PER_HOUR, 6),
    usd_per_million_output_tokens: per(usd * 1e6, served.outputTokens),
    usd_per_million_tokens: per(usd * 1e6, tokens),
    usd_per_thousand_requests: per(usd * 1e3, served.completed),
    energy_kwh: roundTo(joules / JOULES_PER_KWH, 6),
    mean_watts: per(joules, served.seconds),
    joules_per_output_token: per(joules, served.outputTokens),
    joules_per_request: per(joules, served.completed),
    by_gpu: all.map(({ rate, hours, joules: own }) => ({
      gpu: rate.gpu,
      gpu_hours: roundTo(hours, 6),
      usd_per_gpu_hour: rate.usdPerHour,
      usd: roundTo(hours * rate.usdPerHour, 6),
      energy_kwh: roundTo(own / JOULES_PER_KWH, 6),
      price_source: rate.priceSource,
      watts: rate.watts ?? null,
      watts_source: rate.wattsSource,
    })),
  };
}

/** NaN where the watts are unknown. */
function joulesOf(engine: EngineRecord, watts: GpuWatts | undefined): number {
  if (watts === undefined) return NaN;
  const { upUs, busyUs, prefillBusyUs, gpus } = engine;
  const idleUs = Math.max(0, upUs - busyUs);
  const decodeUs = busyUs - prefillBusyUs;
  const wattUs = idleUs * watts.idle + decodeUs * watts.decode + prefillBusyUs * watts.prefill;
  return gpus * usToSeconds(wattUs);
}

function per(amount: number, units: number): Figure {
  return units === 0 ? null : roundTo(amount / units, 6);
}
