import { median } from '@baton/kernel';
import type { EngineRole } from '../../placement/topology/topology';
import { waitingFor } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn } from '../sample';
import type { Capacities, EngineCapacity } from './capacity';
import { lastLoad } from './sla-planner';

/** Thresholds by the names and with the values that llm-d ships. */
export interface TokenCapacitySpec {
  readonly kind: 'wva-tokens';
  /** Part of the KV cache that counts as capacity, 0..1. */
  readonly kvCacheThreshold: number;
  /** With this many waiting requests, an engine computes as much as it can. */
  readonly queueLengthThreshold: number;
  /** Demand over capacity above which engines are added, above 0. */
  readonly scaleUpThreshold: number;
  /** Demand over capacity below which engines are removed, above 0. */
  readonly scaleDownBoundary: number;
}

export const DEFAULT_TOKEN_CAPACITY: TokenCapacitySpec = {
  kind: 'wva-tokens',
  kvCacheThreshold: 0.8,
  queueLengthThreshold: 5,
  scaleUpThreshold: 0.85,
  scaleDownBoundary: 0.7,
};

/** Mean lengths of the requests that finished last, in tokens. */
interface Lengths {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** One ready engine, in tokens. */
interface Replica {
  readonly demand: number;
  readonly capacity: number;
}

/** Observed capacities that are averaged. */
const OBSERVED_MAX = 10;

/**
 * The token-based saturation analyzer (version 2) of llm-d's workload-variant-autoscaler, with each
 * role as a variant:
 *
 *     demand   = KV tokens in use + waiting requests × mean prompt
 *     capacity = min(k1, k2), the median over the engines of the role
 *     k1 = 0.8 × KV tokens
 *     k2 = the tokens in use of an engine with 5 or more waiting requests; else the mean of the
 *          last ten of these with answers of similar length; else N × (I + O / 2) with
 *          N = min(B × O / (I + O), S); else k1
 *     more engines: ⌈(demand / 0.85 − capacity × (ready + starting)) / capacity⌉
 *     fewer:        ⌊(capacity × ready − demand / 0.7) / capacity⌋
 *
 * I and O are the mean prompt and answer (prefill engines: one token), B the token budget of a step
 * and S its most sequences.
 *
 * Source: llm-d/llm-d-workload-variant-autoscaler, internal/engines/analyzers/saturation_v2
 * (commit b28a4f66), defaults of `SaturationScalingConfig`, and
 * internal/engines/pipeline/cost_aware_optimizer.go. There the lengths are those of each engine;
 * here they are those of the cluster.
 */
export class TokenCapacity implements ScalePolicy {
  private lengths: Lengths | undefined;
  /** Observed capacities by role and length of answers, newest last. */
  private readonly observed = new Map<string, number[]>();

  constructor(
    private readonly spec: TokenCapacitySpec,
    private readonly capacities: Capacities,
  ) {}

  decide(context: ScaleContext): ScaleDecision {
    this.lengths = lastLoad(context) ?? this.lengths;
    const count = (role: EngineRole): number => context.counts[role] + this.step(role, context);
    return {
      counts: {
        prefill: count('prefill'),
        decode: count('decode'),
        aggregated: count('aggregated'),
      },
    };
  }

  private step(role: EngineRole, context: ScaleContext): number {
    const replicas = this.replicasOf(role, context);
    if (replicas.length === 0) return 0;
    const { scaleUpThreshold, scaleDownBoundary } = this.spec;
    const capacity = Math.trunc(median(replicas.map((one) => one.capacity)));
    if (capacity <= 0) return 0;
    const demand = replicas.reduce((sum, one) => sum + one.demand, 0);
    const starting = enginesIn(context.sample, role).filter(({ state }) => state === 'starting');
    const anticipated = (replicas.length + starting.length) * capacity;
    const required = demand / scaleUpThreshold - anticipated;
    if (required > 0) return Math.ceil(required / capacity);
    const spare = replicas.length * capacity - demand / scaleDownBoundary;
    return spare > 0 ? -Math.floor(spare / capacity) : 0;
  }

  private replicasOf(role: EngineRole, { sample }: ScaleContext): Replica[] {
    const engine = this.capacities[role];
    const ready = enginesIn(sample, role).filter(({ state }) => state === 'ready');
    if (engine === undefined || ready.length === 0) return [];
    const inside = ready.reduce((sum, { waiting }) => sum + waiting, 0);
    // Baton's jobs wait in front of the engines, vLLM's wait inside: each engine counts its share.
    const share = (waitingFor(sample, role) - inside) / ready.length;
    return ready.map(({ kvUsage, waiting }) => {
      const inUse = kvUsage * engine.kvTokens;
      const queue = waiting + share;
      return {
        demand: inUse + queue * (this.lengths?.promptTokens ?? 0),
        capacity: this.capacityOf(role, engine, { inUse, queue }),
      };
    });
  }

  private capacityOf(
    role: EngineRole,
    engine: EngineCapacity,
    { inUse, queue }: { readonly inUse: number; readonly queue: number },
  ): number {
    const byMemory = Math.trunc(engine.kvTokens * this.spec.kvCacheThreshold);
    const isFull = queue >= this.spec.queueLengthThreshold && inUse > 0;
    const past = this.observedOf(role);
    if (isFull) {
      past.push(inUse);
      if (past.length > OBSERVED_MAX) past.shift();
      return Math.min(byMemory, inUse);
    }
    const byCompute = past.length > 0 ? mean(past) : this.estimate(role, engine);
    return Math.min(byMemory, byCompute > 0 ? Math.trunc(byCompute) : byMemory);
  }

  /** N × (I + O / 2), or 0 before the first request has finished. */
  private estimate(role: EngineRole, { maxNumBatchedTokens, maxNumSeqs }: EngineCapacity): number {
    if (this.lengths === undefined) return 0;
    const { promptTokens } = this.lengths;
    const outputTokens = role === 'prefill' ? 1 : this.lengths.outputTokens;
    const steady = (maxNumBatchedTokens * outputTokens) / (promptTokens + outputTokens);
    return Math.min(steady, maxNumSeqs) * (promptTokens + outputTokens / 2);
  }

  private observedOf(role: EngineRole): number[] {
    const key = `${role} ${lengthClass(this.lengths?.outputTokens ?? 0)}`;
    const found = this.observed.get(key) ?? [];
    this.observed.set(key, found);
    return found;
  }
}

/** Answers below 100 tokens, below 500, and longer ones (`classifyOutputLength`). */
function lengthClass(outputTokens: number): 'short' | 'medium' | 'long' {
  if (outputTokens < 100) return 'short';
  return outputTokens < 500 ? 'medium' : 'long';
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
