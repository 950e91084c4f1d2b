/**
 * Request parameters for the engines themselves. It goes whole from the request through the job to
 * the engine: a new parameter is declared here, at its field of the request body (`@ForEngine`),
 * and is read where an engine acts on it. An absent one is the engine's own choice.
 */
export interface EngineParameters {
  /**
   * Least share of its tokens, 0..1, that the prefix cache must hold each time the waiting sequence
   * is admitted. With less the sequence ends, with the reason `cache_threshold`. It has no effect
   * where a prompt is computed for another engine to fetch. 0: off.
   */
  readonly cacheHitThreshold?: number;
}
