import type { EngineOptions } from '@baton/engine';
import type { Gpu } from '@baton/hardware';
import type { StepNoise, StepTimeModel } from '@baton/step-time';
import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';
import { ownOperators } from './operator-files';

/**
 * The scatter of steps by `step_noise`: that of the profile, or of own operators that were measured
 * several times.
 *
 * @throws UsageError when it was not measured
 */
export function stepNoise(
  { stepNoise: wanted, operators }: BatonConfig,
  model: StepTimeModel,
  gpu: Gpu,
): Pick<EngineOptions, 'stepNoise'> {
  if (wanted === 'none') return {};
  const isComposed = model.method === 'composed';
  const own = isComposed && operators !== undefined ? ownOperators(operators) : undefined;
  const noise = model.noise ?? own?.noise(gpu.operators ?? '');
  if (noise !== undefined && isKnown(noise)) return { stepNoise: noise };
  throw new UsageError(
    `step_noise measured needs a measured spread, and there is none for steps ` +
      `${model.description}: fit a profile to a log of 50 steps and more (baton calibrate ` +
      '--input), or measure own operators several times.',
  );
}

function isKnown({ decode, prefill }: StepNoise): boolean {
  return decode !== undefined || prefill !== undefined;
}
