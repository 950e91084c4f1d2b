import type { RandomStream } from '@baton/kernel';
import { buildPolicy, type PolicySpec } from './build-policy';
import { isPrefilledOnDecode } from './disaggregation';
import type { PlacementContext, Policy } from './policy';

/**
 * When the decode engine of a disaggregated request is chosen: with the prefill engine at arrival,
 * or when the prompt is done.
 */
export type DecodeChoice = 'early' | 'late';

/** `pull`: engines take from the stage's shared queue; no policy chooses. */
export type StagePolicySpec = 'pull' | PolicySpec;

export interface PlacerSpec {
  /** For the stage that computes prompts: prefill, or aggregated. */
  readonly prefill: StagePolicySpec;
  readonly decode: StagePolicySpec;
  readonly decodeChoice: DecodeChoice;
  /** Prompt tokens, see `isPrefilledOnDecode`; 0 = off. */
  readonly disaggregationThreshold: number;
}

/** Index into the engines of a context; this for "the shared queue". */
export const SHARED_QUEUE = -1;

export interface ArrivalChoice {
  /** `local`: the decode engine computes the prompt too. */
  readonly kind: 'disaggregated' | 'local';
  /** SHARED_QUEUE under `pull`, and when `local`. */
  readonly prefill: number;
  /** SHARED_QUEUE under `pull`, and while the choice is still to come. */
  readonly decode: number;
}

/**
 * Combines the rules of placement, for both clocks: which engines a request goes to, at arrival and
 * at hand-over. Every process that places requests has its own.
 */
export class Placer {
  private readonly prefill: Policy | null;
  private readonly aggregated: Policy | null;
  private readonly decodeEarly: Policy | null;
  /** Not the same as at arrival, where choices are thrown away while they may come late. */
  private readonly decodeLate: Policy | null;

  constructor(
    private readonly spec: PlacerSpec,
    random: RandomStream,
  ) {
    this.prefill = policyOf(spec.prefill, random.stream('prefill'));
    this.aggregated = policyOf(spec.prefill, random.stream('aggregated'));
    this.decodeEarly = policyOf(spec.decode, random.stream('decode early'));
    this.decodeLate = policyOf(spec.decode, random.stream('decode late'));
  }

  /** The way of a request that prefill and decode engines share. */
  atArrival(prefill: PlacementContext, decode: PlacementContext): ArrivalChoice {
    const { decodeChoice, disaggregationThreshold } = this.spec;
    const isDecodeWanted = decodeChoice === 'early' || disaggregationThreshold > 0;
    const chosen = isDecodeWanted ? choose(this.decodeEarly, decode) : SHARED_QUEUE;
    const cached = chosen === SHARED_QUEUE ? 0 : decode.cachedTokens(decode.engines[chosen]!);
    const { promptTokens } = decode.request;
    if (isPrefilledOnDecode(promptTokens, cached, disaggregationThreshold)) {
      return { kind: 'local', prefill: SHARED_QUEUE, decode: chosen };
    }
    return {
      kind: 'disaggregated',
      prefill: choose(this.prefill, prefill),
      decode: decodeChoice === 'early' ? chosen : SHARED_QUEUE,
    };
  }

  /**
   * The decode engine of a request whose prompt is done, when none was chosen early or the chosen
   * one has left.
   */
  atHandoff(decode: PlacementContext): number {
    return choose(this.decodeLate, decode);
  }

  /**
   * The prefill engine alone: of a request whose decode is not ours to place, or one that is placed
   * again.
   */
  onPrefill(prefill: PlacementContext): number {
    return choose(this.prefill, prefill);
  }

  /** The engine of a request that goes to aggregated engines. */
  onAggregated(aggregated: PlacementContext): number {
    return choose(this.aggregated, aggregated);
  }
}

function policyOf(spec: StagePolicySpec, random: RandomStream): Policy | null {
  return spec === 'pull' ? null : buildPolicy(spec, random);
}

function choose(policy: Policy | null, context: PlacementContext): number {
  return policy === null ? SHARED_QUEUE : policy.choose(context);
}
