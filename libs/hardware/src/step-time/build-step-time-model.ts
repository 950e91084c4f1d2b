import { unreachable } from '@baton/kernel';
import type { EnginePlacement } from '../engine-placement';
import { isCalibrated } from '../profiles/shipped-profiles';
import { type BlisSpec, BlisStepTime } from './blis';
import { type CalibratedSpec, calibratedStepTime } from './calibrated';
import { type ConstantSpec, ConstantStepTime } from './constant';
import { isMockerGrid, MockerGridStepTime } from './mocker-grid';
import { type PerTokenSpec, PerTokenStepTime } from './per-token';
import { type PolynomialSpec, PolynomialStepTime } from './polynomial';
import { type RooflineSpec, RooflineStepTime } from './roofline';
import type { StepTimeModel } from './step-time-model';
import { type TableSpec, TableStepTime } from './table';

/** `calibrated` where a calibration is shipped for the placement, else `roofline`. */
export interface AutoSpec {
  readonly kind: 'auto';
  readonly overheadMs?: number | undefined;
  readonly mixedDecodeFactor?: number | undefined;
}

export type StepTimeSpec =
  | AutoSpec
  | CalibratedSpec
  | RooflineSpec
  | BlisSpec
  | ConstantSpec
  | PerTokenSpec
  | TableSpec
  | PolynomialSpec;

/**
 * The step-time model that a specification names, for one engine. Formulas, sources and ranges:
 * docs/step-time.md.
 *
 * @throws HardwareError `not-calibrated`, `bad-tensor-parallel`, `bad-expert-parallel`, `bad-profile`
 */
export function buildStepTimeModel(spec: StepTimeSpec, placement: EnginePlacement): StepTimeModel {
  switch (spec.kind) {
    case 'auto': {
      const kind = isCalibrated(placement) ? 'calibrated' : 'roofline';
      return buildStepTimeModel({ ...spec, kind }, placement);
    }
    case 'calibrated':
      return calibratedStepTime(spec, placement);
    case 'roofline':
      return new RooflineStepTime(spec, placement);
    case 'blis':
      return new BlisStepTime(spec, placement);
    case 'constant':
      return new ConstantStepTime(spec);
    case 'per-token':
      return new PerTokenStepTime(spec);
    case 'table':
      return isMockerGrid(spec.csv)
        ? new MockerGridStepTime(spec.csv)
        : new TableStepTime(spec, placement);
    case 'polynomial':
      return new PolynomialStepTime(spec);
    default:
      return unreachable(spec);
  }
}
