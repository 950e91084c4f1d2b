import { type EnginePool, poolOf } from '@baton/simulation';
import { type BatonConfig, UsageError } from '@baton/config';
import { assert } from '@baton/kernel';
import type { EngineRole } from '@baton/policies';
import type { Candidate, Choices } from '../candidates/candidates';
import type { Engines } from '../candidates/rate-match';

/** Tensor-parallel sizes by role, as far as configured. */
export interface GivenSizes {
  readonly tp: readonly number[] | undefined;
  readonly prefillTp: readonly number[] | undefined;
  readonly decodeTp: readonly number[] | undefined;
}

type SizeKey = 'tensorParallelSize' | 'prefillTensorParallelSize' | 'decodeTensorParallelSize';
type Sizes = Readonly<Record<EngineRole, readonly number[]>>;

const DEFAULT_SIZES = [1, 2, 4, 8] as const;
const TOKEN_BUDGETS = [512, 1_024, 2_048, 4_096, 8_192, 16_384] as const;
const ROLES = ['prefill', 'decode', 'aggregated'] as const;

/**
 * Sizes by flag replace those of the configuration, and those of a role replace those of all roles.
 * Aggregated engines may have the sizes of both other roles.
 */
export function sizesOf(
  given: GivenSizes,
  config: BatonConfig,
  isSet: (key: SizeKey) => boolean,
): Sizes {
  const configured = (key: SizeKey): number[] | undefined => {
    const size = config[key];
    return size === undefined || !isSet(key) ? undefined : [size];
  };
  const all = given.tp ?? configured('tensorParallelSize');
  const prefill = given.prefillTp ?? configured('prefillTensorParallelSize');
  const decode = given.decodeTp ?? configured('decodeTensorParallelSize');
  const either = prefill && decode && [...new Set([...prefill, ...decode])].sort((a, b) => a - b);
  return {
    prefill: prefill ?? all ?? DEFAULT_SIZES,
    decode: decode ?? all ?? DEFAULT_SIZES,
    aggregated: all ?? either ?? DEFAULT_SIZES,
  };
}

/** One engine of each role and size at which the model fits. */
export class EngineChoices {
  private readonly pools = new Map<string, EnginePool>();
  private readonly reasons = new Map<string, UsageError>();

  /** @throws UsageError when no engine fits */
  constructor(
    private readonly config: BatonConfig,
    private readonly sizes: Sizes,
    private readonly gpus: number,
  ) {
    for (const role of ROLES) for (const size of sizes[role]) this.tryOut(role, size);
    if (this.pools.size > 0) return;
    // The error of the largest engine is reported, because it is the nearest to fit.
    const reason = [...this.reasons.values()].at(-1);
    throw (
      reason ??
      new UsageError(`Engines of these sizes need more than ${gpus} GPUs. Change --gpus or --tp.`)
    );
  }

  /** The engines that the plan chooses from. */
  get choices(): Choices {
    const fitting = (role: EngineRole): number[] => {
      return this.sizes[role].filter((size) => this.pools.has(keyOf(role, size)));
    };
    const { pipelineParallelSize: aggregatedStages } = this.config;
    return {
      gpus: this.gpus,
      ...(aggregatedStages === 1 ? {} : { aggregatedStages }),
      prefillTp: fitting('prefill'),
      decodeTp: fitting('decode'),
      aggregatedTp: fitting('aggregated'),
    };
  }

  /** Numbers of GPUs of the engines that the plan chooses from, rising. */
  get gpuCounts(): number[] {
    const counts = [...this.pools.values()].map(({ gpus }) => gpus);
    return [...new Set(counts)].sort((a, b) => a - b);
  }

  /** Sizes that were left out, with the reasons. */
  get notes(): string[] {
    const left = new Map<string, string[]>();
    for (const [key, { message }] of this.reasons) {
      left.set(message, [...(left.get(message) ?? []), key]);
    }
    return [...left].map(([message, keys]) => `Left out ${keys.join(', ')}: ${message}`);
  }

  /** Description of the step times, by role and size. */
  get stepTimes(): Record<string, string> {
    return Object.fromEntries(
      [...this.pools].map(([key, { options }]) => [key, options.stepTime.description]),
    );
  }

  /**
   * Token budgets besides that of the engines. vLLM takes none below a full batch of decodes, and
   * without chunked prefill none below the longest prompt.
   */
  get otherTokenBudgets(): number[] {
    if (!this.config.enableChunkedPrefill) return [];
    const all = [...this.pools.values()].map(({ options }) => options);
    const least = Math.max(...all.map(({ maxNumSeqs }) => maxNumSeqs));
    const own = new Set(all.map(({ maxNumBatchedTokens }) => maxNumBatchedTokens));
    return TOKEN_BUDGETS.filter((budget) => budget >= least && !own.has(budget));
  }

  /** Largest sum of prompt and output, tokens. */
  get maxModelLen(): number {
    const [pool] = this.pools.values();
    return pool?.options.maxModelLen ?? Infinity;
  }

  /** The engines of a candidate, which must consist of `choices`. */
  enginesOf({ prefillTp, decodeTp }: Candidate): Engines {
    return (role) => {
      const pool = this.pools.get(keyOf(role, role === 'prefill' ? prefillTp : decodeTp));
      assert(pool !== undefined, `no ${role} engine was built`);
      return pool.options;
    };
  }

  private tryOut(role: EngineRole, size: number): void {
    if (size * this.config.pipelineParallelSize > this.gpus) return;
    const sized = {
      tensorParallelSize: size,
      prefillTensorParallelSize: size,
      decodeTensorParallelSize: size,
    };
    try {
      this.pools.set(keyOf(role, size), poolOf({ ...this.config, ...sized }, role, 1));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.reasons.set(keyOf(role, size), error);
    }
  }
}

function keyOf(role: EngineRole, size: number): string {
  return `${role} tp${size}`;
}
