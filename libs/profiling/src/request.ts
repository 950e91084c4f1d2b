import type { CalibrationOptions } from '@baton/calibration';
import type { InputFormat } from './formats/formats';
import type { InputOptions } from './formats/measured';

/** What is to be fitted, and where the profile goes. */
export interface CalibrationRequest {
  readonly inputs: readonly string[];
  readonly format: InputFormat | undefined;
  readonly input: InputOptions;
  readonly options: CalibrationOptions;
  /** File to write. */
  readonly out: string | undefined;
  readonly json: boolean;
}
