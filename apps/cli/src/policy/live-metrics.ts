import { engineKeyOf, type Sample, samplesOf } from '@baton/loadgen';
import { type BusyEngine, imbalanceOf } from './imbalance';

/** What a live cluster counted under a policy since it began. */
export interface PolicyMetrics {
  /** Decisions that the fallback made. */
  readonly policyFaults: number;
  /** Cached share of the prompt tokens that engines looked up; null: none were. */
  readonly prefixHitRate: number | null;
  /** As on the virtual clock; null: no engine was busy. */
  readonly imbalance: number | null;
}

export async function policyMetricsAt(baseUrl: string): Promise<PolicyMetrics> {
  return policyMetricsIn(await (await fetch(`${baseUrl}/metrics`)).text());
}

/** @param page  in Prometheus' text format */
export function policyMetricsIn(page: string): PolicyMetrics {
  const samples = samplesOf(page);
  const of = (name: string): Sample[] => samples.filter((sample) => sample.name === name);
  const sum = (name: string): number => of(name).reduce((total, { value }) => total + value, 0);
  const lookedUp = sum('vllm:prefix_cache_queries_total');
  const stages = new Map(
    of('baton:engine_info').map((info) => [engineKeyOf(info), info.labels['stage']]),
  );
  const engines = of('baton:step_seconds_total').map((sample): BusyEngine => {
    return { role: stages.get(engineKeyOf(sample)) ?? '', busy_seconds: sample.value };
  });
  return {
    policyFaults: sum('baton:policy_faults_total'),
    prefixHitRate: lookedUp === 0 ? null : sum('vllm:prefix_cache_hits_total') / lookedUp,
    imbalance: imbalanceOf(engines),
  };
}
