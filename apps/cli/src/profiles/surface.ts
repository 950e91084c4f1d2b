import { resolveConfig, UsageError, engineSetup } from '@baton/config';
import type { BatchAggregates, StepTimeModel } from '@baton/step-time';
import type { ProfileFlags } from './command';
import { type OwnProfile, readProfile } from './own-profile';

/** Step times of one deployment. */
export interface Surface {
  readonly profile: OwnProfile | undefined;
  readonly model: StepTimeModel;
  readonly contextMax: number;
  decodeMs(sequences: number, context: number): number;
  prefillMs(tokens: number): number;
}

const EMPTY: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 0,
  decodeContext: 0,
  kvUsage: 0,
};
/** Any number of KV blocks: it has no effect on step times. */
const ANY_BLOCKS = '1000';

/** @throws UsageError, one sentence, for an unknown deployment or a profile of another one */
export function surfaceOf(file: string | undefined, flags: ProfileFlags): Surface {
  const profile = file === undefined ? undefined : readProfile(file);
  const { config } = resolveConfig({ flags: configFlags(profile, flags) });
  const { stepTime: model, maxModelLen } = engineSetup(config, 'aggregated').options;
  const ms = (batch: Partial<BatchAggregates>): number =>
    model.stepUs({ ...EMPTY, ...batch }) / 1_000;
  return {
    profile,
    model,
    contextMax: maxModelLen,
    decodeMs: (decodeSeqs, context) => ms({ decodeSeqs, decodeContext: decodeSeqs * context }),
    prefillMs: (tokens) =>
      ms({ prefillTokens: tokens, prefillSeqs: 1, prefillQuadratic: tokens ** 2 }),
  };
}

function configFlags(
  profile: OwnProfile | undefined,
  { model, gpu, tp, quantization, stepTime }: ProfileFlags,
): Record<string, string> {
  const own = (key: string): string | undefined => {
    const value = profile?.content[key];
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
  };
  const named = {
    model: model ?? own('model'),
    gpu: gpu ?? own('gpu'),
    tensorParallelSize: tp ?? own('tensor_parallel_size'),
    framework: own('framework'),
    dataParallelSize: own('data_parallel_size'),
    enableExpertParallel: own('expert_parallel'),
    quantization,
    stepTime,
    stepTimeFile: profile?.path,
    numGpuBlocksOverride: ANY_BLOCKS,
  };
  if (named.model === undefined || named.gpu === undefined) {
    throw new UsageError(
      profile === undefined
        ? 'The deployment is missing. Add a profile file, or --model and --gpu.'
        : `${profile.path} has no model and GPU. Add --model and --gpu.`,
    );
  }
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Record<string, string>;
}
