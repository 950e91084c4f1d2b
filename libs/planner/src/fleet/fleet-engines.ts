import { type BatonConfig, type ConfigKey, UsageError } from '@baton/config';
import { type GivenRates } from '../costs/read-gpu-prices';
import { ratesOf } from '../costs/rates-of';
import type { EngineOptions } from '@baton/engine';
import type { EngineRole } from '@baton/policies';
import { aggregatedRate, decodeRate, prefillRate } from '../candidates/rate-match';
import { poolOf } from '@baton/simulation';
import type { WorkloadDescription } from '@baton/workload';
import { meanDemand } from '../engines/mean-demand';
import type { FleetSpace } from './fleet-space';
import { type LeftOut, leftOutOf, noteOnLeftOut } from './left-out';

type Overrides = Partial<BatonConfig>;

/** One way to build the engines of a role. */
export interface FleetEngine {
  readonly role: EngineRole;
  readonly gpu: string;
  readonly tensorParallelSize: number;
  /** GPUs of one engine, over its pipeline stages and data-parallel ranks. */
  readonly gpus: number;
  readonly usdPerHour: number;
  readonly options: EngineOptions;
  /** Requests per second that `count` engines are expected to serve (rate matching). */
  readonly rateOf: (count: number) => number;
}

/** Options that change the engine of a request, but not the engines. */
const OF_PLACEMENT: readonly ConfigKey[] = [
  ...(['placement', 'decodePlacement', 'enablePrefixCaching', 'autoscaler'] as const),
];

/**
 * The engines that a space can build, with the rate of each. Engines that do not fit are left out.
 */
export class FleetEngines {
  /** Engines that cannot be built, each once. */
  readonly leftOut: LeftOut[] = [];
  private readonly built = new Map<string, ReturnType<typeof poolOf> | undefined>();

  constructor(
    private readonly parts: {
      readonly config: BatonConfig;
      readonly space: FleetSpace;
      readonly description: WorkloadDescription;
      readonly prices: GivenRates;
      /** µs; Infinity: none. */
      readonly tpotUs: number;
    },
  ) {}

  /** @throws UsageError when a GPU of the space has no price */
  of(role: EngineRole, overrides: Overrides): FleetEngine[] {
    const { gpus, tensorParallelSizes } = this.parts.space;
    return [...gpus].flatMap(([gpu, stock]) =>
      tensorParallelSizes.flatMap((size) => {
        const engine = this.engineOf(role, { ...overrides, ...sized(role, gpu, size) });
        return engine === undefined || engine.gpus > stock ? [] : [engine];
      }),
    );
  }

  /** One sentence on all engines that are left out. Undefined when every engine is in a fleet. */
  get note(): string | undefined {
    return noteOnLeftOut(this.leftOut, this.built.size);
  }

  private engineOf(role: EngineRole, overrides: Overrides): FleetEngine | undefined {
    const config = { ...this.parts.config, ...overrides };
    const pool = this.poolFor(role, overrides);
    if (pool === undefined) return undefined;
    const { [role]: rate } = ratesOf(config, [role], this.parts.prices);
    const gpus = pool.gpus * config.dataParallelSize;
    const rates: number[] = [0];
    return {
      role,
      gpu: rate!.gpu,
      tensorParallelSize: overrides[SIZE_KEY[role]] ?? 1,
      gpus,
      usdPerHour: gpus * rate!.usdPerHour,
      options: pool.options,
      rateOf: (count) => (rates[count] ??= this.rateOf({ role, config, pool }, count)),
    };
  }

  private rateOf(
    { role, config, pool }: { role: EngineRole; config: BatonConfig; pool: EnginePoolOf },
    count: number,
  ): number {
    const { description, tpotUs } = this.parts;
    const ranks = count * config.dataParallelSize;
    const demand = meanDemand(description, config, ranks);
    const { options } = pool;
    if (role === 'prefill') return ranks * prefillRate(options, demand);
    if (role === 'decode') return ranks * decodeRate(options, demand, tpotUs);
    return ranks * aggregatedRate(options, demand, tpotUs);
  }

  private poolFor(role: EngineRole, overrides: Overrides): EnginePoolOf | undefined {
    const own = Object.fromEntries(
      Object.entries(overrides).filter(([key]) => !OF_PLACEMENT.some((each) => each === key)),
    );
    const key = JSON.stringify([role, own]);
    if (!this.built.has(key)) this.built.set(key, this.build(role, own));
    return this.built.get(key);
  }

  private build(role: EngineRole, own: Overrides): EnginePoolOf | undefined {
    try {
      return poolOf({ ...this.parts.config, ...own }, role, 1);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.leftOut.push(leftOutOf(role, own, error));
      return undefined;
    }
  }
}

type EnginePoolOf = ReturnType<typeof poolOf>;

const SIZE_KEY = {
  prefill: 'prefillTensorParallelSize',
  decode: 'decodeTensorParallelSize',
  aggregated: 'tensorParallelSize',
} as const;
const GPU_KEY = { prefill: 'prefillGpu', decode: 'decodeGpu', aggregated: 'gpu' } as const;

/** The options that give a role its GPU and its size. */
export function sized(role: EngineRole, gpu: string, tensorParallelSize: number): Overrides {
  return { [GPU_KEY[role]]: gpu, [SIZE_KEY[role]]: tensorParallelSize };
}
