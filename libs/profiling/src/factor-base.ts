import type { FactorBase } from '@baton/calibration';
import { UsageError } from '@baton/config';
import { modelOf, operatorFiles } from '@baton/engine-setup';
import { describePrecision, findGpu, HardwareError, servedIn } from '@baton/hardware';
import { buildStepTimeModel } from '@baton/step-time';
import type { InputOptions } from './formats/measured';

/** The number formats of weights and KV cache on the measured server, and the source of steps. */
export type Formats = Parameters<typeof servedIn>[2] & {
  /** Folder of the user's own operator tables. */
  readonly operators?: string | undefined;
};

/**
 * Composed step times of the measured server, over which factors are fitted.
 *
 * @throws UsageError when model or GPU is missing, or no steps can be composed for them
 */
export function factorBase({ model, gpu, tp = 1 }: InputOptions, formats: Formats): FactorBase {
  if (model === undefined || gpu === undefined) {
    throw new UsageError('--fit factors needs --model and --gpu: factors are over composed steps.');
  }
  try {
    const found = findGpu(gpu);
    const served = servedIn(modelOf(model), found, formats);
    const placement = { model: served, gpu: found, tp, dp: 1, expertParallel: false };
    const spec = { kind: 'composed', overheadMs: 0 } as const;
    const source = operatorFiles({ own: formats.operators });
    const composed = buildStepTimeModel(spec, placement, source);
    const precision = describePrecision(served.precision);
    const { ownSum: ownOperators } = source;
    return { model: composed as FactorBase['model'], precision, ownOperators };
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}
