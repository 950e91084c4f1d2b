import type { BatonConfig } from '@baton/runtime';
import type { LengthModel } from '@baton/text';

export function lengthModelOf(config: BatonConfig): LengthModel {
  return () => Math.round(config.outputLengthMean);
}
