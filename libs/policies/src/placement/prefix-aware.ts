import { estimateTtftUs } from './ttft-estimate';
import type { EngineView, PlacementContext, Policy } from './policy';
import { tokenLoad } from './least-loaded';

export interface PrefixAwareSpec {
  readonly kind: 'prefix-aware';
  /**
   * On stages that compute prompts: keeps the engine with the longest prefix while its estimated
   * TTFT is at most this many times the smallest. >= 1; 1 (the default) = always the smallest.
   */
  readonly balanceThreshold?: number | undefined;
  /** On other stages: tokens of load that one cached token outweighs. >= 0, default 1. */
  readonly overlapWeight?: number | undefined;
}

/**
 * Weighs the cached part of the prompt against an engine's load.
 *
 * On stages that compute prompts it is Mooncake's Conductor (FAST'25, algorithm 1): the smallest
 * `T_queue + T_prefill(len, own prefix)`, or with a KV pool also `T_queue + T_transfer +
 * T_prefill(len, best prefix)`. A hot prefix is replicated automatically once its engine's queue
 * costs more than fetching it or computing it again. For decode it is the cost of Dynamo's KV
 * router: `load + weight · (prompt − cached)`, all in tokens. Ties go to the next engine after the
 * last choice, so that new prefixes spread over idle engines.
 */
export class PrefixAware implements Policy {
  private readonly balanceThreshold: number;
  private readonly overlapWeight: number;
  private last = -1;

  constructor(spec: PrefixAwareSpec) {
    this.balanceThreshold = spec.balanceThreshold ?? 1;
    this.overlapWeight = spec.overlapWeight ?? 1;
  }

  choose(context: PlacementContext): number {
    this.last = context.stage === 'decode' ? this.cheapest(context) : this.soonest(context);
    return this.last;
  }

  private soonest(context: PlacementContext): number {
    const { engines } = context;
    let best = -1;
    let bestUs = Infinity;
    let longest = -1;
    let longestUs = Infinity;
    let longestTokens = -1;
    for (let turn = 1; turn <= engines.length; turn++) {
      const i = this.inTurn(turn, engines.length);
      const us = estimateTtftUs(context, engines[i]!);
      if (us < bestUs) {
        best = i;
        bestUs = us;
      }
      const tokens = context.cachedTokens(engines[i]!);
      if (tokens < longestTokens || (tokens === longestTokens && us >= longestUs)) continue;
      longest = i;
      longestUs = us;
      longestTokens = tokens;
    }
    return longestUs <= bestUs * this.balanceThreshold ? longest : best;
  }

  private cheapest(context: PlacementContext): number {
    const { engines } = context;
    let best = -1;
    let lowest = Infinity;
    for (let turn = 1; turn <= engines.length; turn++) {
      const i = this.inTurn(turn, engines.length);
      const cost = this.decodeCost(context, engines[i]!);
      if (cost >= lowest) continue;
      best = i;
      lowest = cost;
    }
    return best;
  }

  private decodeCost(context: PlacementContext, engine: EngineView): number {
    const missing = context.request.promptTokens - context.cachedTokens(engine);
    return tokenLoad(engine, context.stage) + this.overlapWeight * missing;
  }

  private inTurn(turn: number, count: number): number {
    return (this.last + turn) % count;
  }
}
