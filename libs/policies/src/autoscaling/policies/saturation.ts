import type { EngineRole } from '../../placement/topology/topology';
import { waitingFor } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn } from '../sample';

/** Thresholds by the names and with the values that llm-d ships. */
export interface SaturationSpec {
  readonly kind: 'wva';
  /** An engine is saturated from this KV usage on, 0..1. */
  readonly kvCacheThreshold: number;
  /** An engine is saturated from this many waiting requests on. */
  readonly queueLengthThreshold: number;
  /** Scale up when the mean spare KV usage is below this. */
  readonly kvSpareTrigger: number;
  readonly queueSpareTrigger: number;
}

export const DEFAULT_SATURATION: SaturationSpec = {
  kind: 'wva',
  kvCacheThreshold: 0.8,
  queueLengthThreshold: 5,
  kvSpareTrigger: 0.1,
  queueSpareTrigger: 3,
};

interface Replica {
  readonly kv: number;
  readonly queue: number;
}

/**
 * The saturation analyzer (version 1) of llm-d's workload-variant-autoscaler, with each role as a
 * variant: spare capacity is the threshold less the load, averaged over the engines that are not
 * saturated. One more engine when the spare KV or queue is below its trigger or every engine is
 * saturated; one less when the same load on one engine less leaves both above their triggers. While
 * an engine starts, its role grows no further. Source: llm-d-workload-variant-autoscaler,
 * docs/user-guide and internal/saturation.
 */
export class Saturation implements ScalePolicy {
  constructor(private readonly spec: SaturationSpec) {}

  decide(context: ScaleContext): ScaleDecision {
    const count = (role: EngineRole): number => context.counts[role] + this.step(role, context);
    const counts = {
      prefill: count('prefill'),
      decode: count('decode'),
      aggregated: count('aggregated'),
    };
    return { counts };
  }

  private step(role: EngineRole, { sample }: ScaleContext): -1 | 0 | 1 {
    const engines = enginesIn(sample, role);
    const ready = engines.filter(({ state }) => state === 'ready');
    if (ready.length === 0) return 0;
    const inside = ready.reduce((sum, { waiting }) => sum + waiting, 0);
    // Baton's jobs wait in front of the engines, vLLM's wait inside: each engine counts its share.
    const share = (waitingFor(sample, role) - inside) / ready.length;
    const replicas = ready.map(({ kvUsage, waiting }) => ({ kv: kvUsage, queue: waiting + share }));
    const isStarting = engines.some(({ state }) => state === 'starting');
    if (this.isShort(replicas)) return isStarting ? 0 : 1;
    return this.mayShrink(replicas) ? -1 : 0;
  }

  private unsaturated(replicas: readonly Replica[]): Replica[] {
    const { kvCacheThreshold, queueLengthThreshold } = this.spec;
    return replicas.filter(
      ({ kv, queue }) => kv < kvCacheThreshold && queue < queueLengthThreshold,
    );
  }

  private isShort(replicas: readonly Replica[]): boolean {
    const { kvCacheThreshold, queueLengthThreshold, kvSpareTrigger, queueSpareTrigger } = this.spec;
    const open = this.unsaturated(replicas);
    if (open.length === 0) return true;
    const { kv, queue } = totals(open);
    return (
      kvCacheThreshold - kv / open.length < kvSpareTrigger ||
      queueLengthThreshold - queue / open.length < queueSpareTrigger
    );
  }

  private mayShrink(replicas: readonly Replica[]): boolean {
    const { kvCacheThreshold, queueLengthThreshold, kvSpareTrigger, queueSpareTrigger } = this.spec;
    const open = this.unsaturated(replicas);
    if (open.length < 2) return false;
    const { kv, queue } = totals(open);
    const left = open.length - 1;
    return (
      kvCacheThreshold - kv / left >= kvSpareTrigger &&
      queueLengthThreshold - queue / left >= queueSpareTrigger
    );
  }
}

function totals(replicas: readonly Replica[]): Replica {
  return {
    kv: replicas.reduce((sum, { kv }) => sum + kv, 0),
    queue: replicas.reduce((sum, { queue }) => sum + queue, 0),
  };
}
