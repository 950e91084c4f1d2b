/** Slow-down with the number of running sequences, as in llm-d-inference-sim. */
export interface LoadSpec {
  /**
   * Factor on all times when `maxNumSeqs` sequences run; 1 with a single one, linear between.
   * Unset: 1.
   */
  readonly timeFactorUnderLoad?: number | undefined;
  /** Needed for the factor; unset or 1: no slow-down. */
  readonly maxNumSeqs?: number | undefined;
}

/** `1 + (factor − 1) · (running − 1) / (max_num_seqs − 1)`. */
export function loadFactor(spec: LoadSpec, running: number): number {
  const { timeFactorUnderLoad = 1, maxNumSeqs = 1 } = spec;
  if (maxNumSeqs <= 1 || running <= 1) return 1;
  return 1 + ((timeFactorUnderLoad - 1) * (running - 1)) / (maxNumSeqs - 1);
}
