import type { Micros, RandomStream } from '@baton/kernel';
import { buildPolicy, type PolicySpec } from './build-policy';
import { isPrefilledOnDecode } from './disaggregation';
import { type PolicyWatch, specName, STRICT } from './guarded';
import { OwnPolicy, type OwnPolicySpec } from './own-policy';
import type { PlacementContext, Policy } from './policy';
import { reported } from './timed-policy';
import type { EngineRole } from './topology/topology';

/**
 * When the decode engine of a disaggregated request is chosen: with the prefill engine at arrival,
 * or after the prompt is computed.
 */
export type DecodeChoice = 'early' | 'late';

/** `pull`: engines take from the stage's shared queue; no policy chooses. */
export type StagePolicySpec = 'pull' | PolicySpec | OwnPolicySpec;

export interface PlacerSpec {
  /** For the stage that computes prompts: prefill, or aggregated. */
  readonly prefill: StagePolicySpec;
  readonly decode: StagePolicySpec;
  readonly decodeChoice: DecodeChoice;
  /** Threshold in prompt tokens, see `isPrefilledOnDecode`; 0 = off. */
  readonly disaggregationThreshold: number;
  /**
   * Time for which a router caches the loads of the engines, simulated µs; it adds the requests
   * that it sends meanwhile. Unset: it always reads the newest loads.
   */
  readonly metricsIntervalUs?: Micros;
  /** The policy used when a user's own policy makes no choice; default: fewest requests. */
  readonly fallback?: PolicySpec;
}

/** The name of a policy: its kind, or the file of a user's own one. */
export function policyName(spec: StagePolicySpec): string {
  return spec === 'pull' ? spec : specName(spec);
}

const FALLBACK: PolicySpec = { kind: 'least-requests' };

/** Stands for the shared queue in place of an index into the engines of a context. */
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
 * Combines the rules of placement, for both clocks: chooses the engines of a request, at arrival
 * and at hand-over. Every process that places requests has its own.
 */
export class Placer {
  private readonly prefill: Policy | null;
  private readonly aggregated: Policy | null;
  private readonly decodeEarly: Policy | null;
  /**
   * The policy of late choices. It is separate from that at arrival, whose choices are discarded
   * when decode is chosen late.
   */
  private readonly decodeLate: Policy | null;

  /** @param watch counts the faults of a user's own policies; by default the first one throws */
  constructor(
    private readonly spec: PlacerSpec,
    random: RandomStream,
    watch: PolicyWatch = STRICT,
  ) {
    const build = (policy: StagePolicySpec, stage: EngineRole, stream: string): Policy | null =>
      policyOf(policy, { stage, random: random.stream(stream), spec, watch });
    this.prefill = build(spec.prefill, 'prefill', 'prefill');
    this.aggregated = build(spec.prefill, 'aggregated', 'aggregated');
    this.decodeEarly = build(spec.decode, 'decode', 'decode early');
    this.decodeLate = build(spec.decode, 'decode', 'decode late');
  }

  /** The placement of a request that uses prefill and decode engines. */
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
   * Chooses only the prefill engine, for a request whose decode leg an outside router places or
   * that is placed again.
   */
  onPrefill(prefill: PlacementContext): number {
    return choose(this.prefill, prefill);
  }

  /** The engine of a request on aggregated engines. */
  onAggregated(aggregated: PlacementContext): number {
    return choose(this.aggregated, aggregated);
  }
}

interface PolicyParts {
  readonly stage: EngineRole;
  readonly random: RandomStream;
  readonly spec: PlacerSpec;
  readonly watch: PolicyWatch;
}

function policyOf(policy: StagePolicySpec, parts: PolicyParts): Policy | null {
  if (policy === 'pull') return null;
  const { stage, watch } = parts;
  const named = { kind: 'placement', stage, policy: specName(policy), watch } as const;
  return reported(stagePolicy(policy, parts), 'choose', named);
}

function stagePolicy(policy: PolicySpec | OwnPolicySpec, parts: PolicyParts): Policy {
  const { random, spec, watch } = parts;
  if (policy.kind !== 'own') return buildPolicy(policy, random);
  const fallback = buildPolicy(spec.fallback ?? FALLBACK, random.stream('fallback'));
  return new OwnPolicy(policy, parts, fallback, watch);
}

function choose(policy: Policy | null, context: PlacementContext): number {
  return policy === null ? SHARED_QUEUE : policy.choose(context);
}
