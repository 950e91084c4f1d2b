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

/** One line of an exposition. */
interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

export async function policyMetricsAt(baseUrl: string): Promise<PolicyMetrics> {
  return policyMetricsIn(await (await fetch(`${baseUrl}/metrics`)).text());
}

/** @param page  in Prometheus' text format */
export function policyMetricsIn(page: string): PolicyMetrics {
  const samples = page.split('\n').flatMap(sampleIn);
  const of = (name: string): Sample[] => samples.filter((sample) => sample.name === name);
  const sum = (name: string): number => of(name).reduce((total, { value }) => total + value, 0);
  const lookedUp = sum('vllm:prefix_cache_queries_total');
  const stages = new Map(
    of('baton:engine_info').map(({ labels }) => [label(labels, 'engine'), label(labels, 'stage')]),
  );
  const engines = of('baton:step_seconds_total').map(({ labels, value }): BusyEngine => {
    return { role: stages.get(label(labels, 'engine')) ?? '', busy_seconds: value };
  });
  return {
    policyFaults: sum('baton:policy_faults_total'),
    prefixHitRate: lookedUp === 0 ? null : sum('vllm:prefix_cache_hits_total') / lookedUp,
    imbalance: imbalanceOf(engines),
  };
}

function sampleIn(line: string): Sample[] {
  const [, name, labels = '', value] = /^([\w:]+)\{(.*)\} (\S+)$/.exec(line) ?? [];
  return name === undefined ? [] : [{ name, labels, value: Number(value) }];
}

function label(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
}
