/**
 * The state of one stage when a request is placed. It has nothing about the request's true output
 * length.
 */
export interface StageLoad {
  /** Engines that are ready and not draining. */
  readonly readyEngines: number;
  /** Requests that wait in the stage's shared queue, over all API processes. */
  readonly waiting: number;
}

export interface ClusterLoad {
  readonly prefill: StageLoad;
  readonly decode: StageLoad;
  readonly aggregated: StageLoad;
}

export type RouteChoice =
  /** Prefill on one engine, decode on another. */
  | { readonly kind: 'disaggregated' }
  /** Both on one engine. */
  | { readonly kind: 'aggregated' }
  /**
   * No complete route through the cluster is ready; `missing` lists the stages whose first engine
   * would complete one.
   */
  | { readonly kind: 'none'; readonly missing: readonly (keyof ClusterLoad)[] };

/**
 * Chooses the route through a cluster that may mix disaggregated and aggregated engines (2P3D1A):
 * of the complete routes, the one with fewer requests waiting per ready engine of its first stage;
 * on a tie, the disaggregated one. It does not choose the engine: under the `pull` policy an engine
 * with room takes the oldest job of its stage.
 */
export function chooseRoute({ prefill, decode, aggregated }: ClusterLoad): RouteChoice {
  const isSplitReady = prefill.readyEngines > 0 && decode.readyEngines > 0;
  if (isSplitReady && aggregated.readyEngines > 0) {
    // Compared as products, so that equal ratios are equal.
    const split = prefill.waiting * aggregated.readyEngines;
    const whole = aggregated.waiting * prefill.readyEngines;
    return { kind: split <= whole ? 'disaggregated' : 'aggregated' };
  }
  if (isSplitReady) return { kind: 'disaggregated' };
  if (aggregated.readyEngines > 0) return { kind: 'aggregated' };
  return { kind: 'none', missing: missingStages(prefill, decode) };
}

function missingStages(prefill: StageLoad, decode: StageLoad): (keyof ClusterLoad)[] {
  if (prefill.readyEngines > 0) return ['decode'];
  if (decode.readyEngines > 0) return ['prefill'];
  return ['prefill', 'decode', 'aggregated'];
}
