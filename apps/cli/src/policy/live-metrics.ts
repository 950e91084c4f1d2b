import { engineKeyOf, type Sample, samplesOf } from '@baton/loadgen';
import { type BusyEngine, imbalanceOf } from './imbalance';

/** Counts of a live cluster under a policy since its start. */
export interface PolicyMetrics {
  /** Decisions that the fallback made. */
  readonly policyFaults: number;
  /** Cached share of the prompt tokens that engines looked up; null: none were. */
  readonly prefixHitRate: number | null;
  /** As on the virtual clock; null: no engine was busy. */
  readonly imbalance: number | null;
  /** Decisions of the API's router. */
  readonly decisions: readonly CountedDecisions[];
  /** By role: engines now, and seconds of all engines since the API began. */
  readonly engines: ReadonlyMap<string, number>;
  readonly engineSeconds: ReadonlyMap<string, number>;
}

export interface CountedDecisions {
  readonly kind: string;
  readonly stage: string;
  readonly count: number;
  /** Wall time of all of them. */
  readonly seconds: number;
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
    decisions: decisionsIn(of),
    engines: sumsByStage(of('baton:engines')),
    engineSeconds: sumsByStage(of('baton:engine_seconds_total')),
  };
}

function decisionsIn(of: (name: string) => Sample[]): CountedDecisions[] {
  const keyOf = ({ labels }: Sample): string => JSON.stringify(labels);
  const times = new Map(
    of('baton:policy_decision_seconds_total').map((each) => [keyOf(each), each.value]),
  );
  return of('baton:policy_decisions_total').map((sample) => {
    const { kind = '', stage = '' } = sample.labels;
    return { kind, stage, count: sample.value, seconds: times.get(keyOf(sample)) ?? 0 };
  });
}

function sumsByStage(samples: readonly Sample[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples) {
    const stage = labels['stage'] ?? '';
    sums.set(stage, (sums.get(stage) ?? 0) + value);
  }
  return sums;
}
