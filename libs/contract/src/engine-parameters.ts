/**
 * Request parameters for the engines themselves. The object is passed unchanged from the request
 * through the job to the engine: a new parameter is declared here and at its field of the request
 * body (`@ForEngine`), and is read where an engine acts on it. For an absent one the engine's
 * default applies.
 */
export interface EngineParameters {
  /**
   * Least share of its tokens, 0..1, that the prefix cache must hold each time the waiting sequence
   * is admitted. With less the sequence ends, with the reason `cache_threshold`. It has no effect
   * on a prompt that another engine fetches. 0: off.
   */
  readonly cacheHitThreshold?: number;
}
