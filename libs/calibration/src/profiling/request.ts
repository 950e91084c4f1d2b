import type { CalibrationOptions, FactorBase } from '../fits/calibrate';
import type { InputFormat } from '../formats/formats';
import type { InputOptions } from '../formats/measured';

/** The form of a fit that no flag chooses. */
export interface ChosenFit {
  readonly fit: CalibrationOptions['fit'];
  /** Only for factors. */
  readonly base?: FactorBase;
  /** The reason, as sentences. */
  readonly why: string;
}

/** The inputs of a calibration, and the place of its profile. */
export interface CalibrationRequest {
  readonly inputs: readonly string[];
  readonly format: InputFormat | undefined;
  readonly input: InputOptions;
  readonly options: CalibrationOptions;
  /** The file to write. */
  readonly out: string | undefined;
  readonly json: boolean;
}
