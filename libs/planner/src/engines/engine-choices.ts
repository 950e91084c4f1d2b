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
/** Pipeline stages of aggregated engines; a hand-over between stages does not exist in vLLM. */
const DEFAULT_STAGES = [1, 2, 4] as const;

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
  private readonly stages: readonly number[];

  /** @throws UsageError when no engine fits */
  constructor(
    private readonly config: BatonConfig,
    private readonly sizes: Sizes,
    private readonly gpus: number,
    isSet: (key: 'pipelineParallelSize') => boolean,
  ) {
    const given = config.pipelineParallelSize;
    this.stages = isSet('pipelineParallelSize') ? [given] : DEFAULT_STAGES;
    const [fewest = 1] = this.stages;
    for (const size of sizes.prefill) this.tryOut('prefill', size, fewest);
    for (const size of sizes.decode) this.tryOut('decode', size, fewest);
    for (const size of sizes.aggregated) {
      for (const stages of this.stages) this.tryOut('aggregated', size, stages);
    }
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
      return this.sizes[role].filter((tp) => this.pools.has(keyOf(role, tp)));
    };
    const shapes = this.sizes.aggregated.flatMap((tp) =>
      this.stages.map((stages) => ({ tp, stages })),
    );
    return {
      gpus: this.gpus,
      prefillTp: fitting('prefill'),
      decodeTp: fitting('decode'),
      aggregated: shapes.filter(({ tp, stages }) =>
        this.pools.has(keyOf('aggregated', tp, stages)),
      ),
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

  /** Largest sum of prompt and output, tokens. */
  get maxModelLen(): number {
    const [pool] = this.pools.values();
    return pool?.options.maxModelLen ?? Infinity;
  }

  /** The engines of a candidate, which must consist of `choices`. */
  enginesOf({ prefillTp, decodeTp, stages }: Candidate): Engines {
    return (role) => {
      const pool = this.pools.get(keyOf(role, role === 'prefill' ? prefillTp : decodeTp, stages));
      assert(pool !== undefined, `no ${role} engine was built`);
      return pool.options;
    };
  }

  private tryOut(role: EngineRole, size: number, stages: number): void {
    if (size * stages > this.gpus) return;
    const sized = {
      pipelineParallelSize: stages,
      tensorParallelSize: size,
      prefillTensorParallelSize: size,
      decodeTensorParallelSize: size,
    };
    try {
      this.pools.set(keyOf(role, size, stages), poolOf({ ...this.config, ...sized }, role, 1));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      // Pipeline stages that the user did not ask for are left out without a note.
      if (stages === this.stages[0]) this.reasons.set(keyOf(role, size, stages), error);
    }
  }
}

function keyOf(role: EngineRole, size: number, stages = 1): string {
  return stages === 1 ? `${role} tp${size}` : `${role} tp${size} pp${stages}`;
}
