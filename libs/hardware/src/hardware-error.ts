export type HardwareErrorCode =
  /** A model, GPU or link that no catalogue has. */
  | 'unknown-name'
  /** A tensor-parallel degree that the model's heads do not allow. */
  | 'bad-tensor-parallel'
  /** More pipeline stages than layers. */
  | 'bad-pipeline-parallel'
  /** More GPUs than experts, or no experts at all. */
  | 'bad-expert-parallel'
  /** Sizes of CUDA graphs that are invalid or contradict each other. */
  | 'bad-cuda-graphs'
  /** The weights leave no room for KV blocks. */
  | 'does-not-fit'
  /** A config.json without a required field, or of a family that is not simulated. */
  | 'bad-config'
  /** A number format for which the GPU has no units. */
  | 'not-possible'
  /** No shipped calibration for this model, GPU and degree. */
  | 'not-calibrated'
  /** Operators of this GPU, format or shape were not measured. */
  | 'not-measured'
  /** A table, polynomial or profile that cannot be used. */
  | 'bad-profile'
  /** Measured points that no model can be fitted to. */
  | 'bad-points'
  /** A batch outside the measured range of a model, while extrapolation is refused. */
  | 'outside-range';

/**
 * A request of the user that the hardware does not allow. The message is one sentence for that
 * user.
 */
export class HardwareError extends Error {
  constructor(
    readonly code: HardwareErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'HardwareError';
  }
}
