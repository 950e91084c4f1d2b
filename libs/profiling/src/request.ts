import type { CalibrationOptions } from '@baton/calibration';
import type { InputFormat } from './formats/formats';
import type { InputOptions } from './formats/measured';

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
