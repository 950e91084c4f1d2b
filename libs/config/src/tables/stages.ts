import type { Option, OptionValue } from '../option';
import { fileName } from '../names';
import { ENGINE } from './engine';
import { HARDWARE } from './hardware';
import { STEP_TIME } from './step-time';

/** Options that prefill and decode engines may set separately. */
export const PER_STAGE = {
  gpu: HARDWARE.gpu,
  tensorParallelSize: HARDWARE.tensorParallelSize,
  link: HARDWARE.link,
  gpuMemoryUtilization: HARDWARE.gpuMemoryUtilization,
  numGpuBlocksOverride: HARDWARE.numGpuBlocksOverride,
  maxNumSeqs: ENGINE.maxNumSeqs,
  maxNumBatchedTokens: ENGINE.maxNumBatchedTokens,
  stepTime: STEP_TIME.stepTime,
  stepTimeFile: STEP_TIME.stepTimeFile,
} as const;

export type OverriddenStage = 'prefill' | 'decode';

type ValueOf<O> = O extends Option<infer V> ? V : never;

type Overrides<S extends OverriddenStage> = {
  readonly [K in keyof typeof PER_STAGE as `${S}${Capitalize<K>}`]: Option<
    ValueOf<(typeof PER_STAGE)[K]> | undefined
  >;
};

/** `gpu` becomes `prefillGpu`. */
export function overrideKey(stage: OverriddenStage, key: string): string {
  return `${stage}${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

function overridesOf<S extends OverriddenStage>(stage: S): Overrides<S> {
  const rows = Object.entries<Option<OptionValue>>(PER_STAGE).map(([key, option]) => [
    overrideKey(stage, key),
    {
      form: option.form,
      default: undefined,
      help: `${fileName(key)} of ${stage} engines, in place of ${fileName(key)} of all engines.`,
      ...(option.unit === undefined ? {} : { unit: option.unit }),
      unset: `that of ${fileName(key)}`,
    },
  ]);
  return Object.fromEntries(rows) as Overrides<S>;
}

export const STAGES_ALONE = { ...overridesOf('prefill'), ...overridesOf('decode') } as const;
