import type { Slo } from '@baton/analysis';
import { type BatonConfig, flagName } from '@baton/config';
import { quietBench } from '../bench/bench';
import { type BenchFlags, readBenchFlags } from '../bench/bench-flags';
import { DemoCluster } from '../bench/demo-cluster';
import { type ResultDocument, voidReason } from '../bench/result-document';
import { EXIT_CODES } from '../exit-codes';
import { partConfig, type GivenReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';
import { type PolicyMetrics, policyMetricsAt } from './live-metrics';
import type { LiveFigures, PolicyTrial } from './policy-outcome';

/**
 * Sends the workload to a cluster of processes for each policy, one after the other, and stops
 * each cluster, also on Ctrl-C. A cluster with a speedup gets its requests faster by the same
 * factor.
 *
 * @returns the figures of the first trials in their order; of all, unless it was interrupted
 */
export async function livePolicies(
  trials: readonly PolicyTrial[],
  asked: LiveTest,
  parts: LiveTestParts = PROCESSES,
): Promise<LiveFigures[]> {
  const stops = new StopRequests();
  const figures: LiveFigures[] = [];
  try {
    for (const trial of trials) {
      const { name } = trial.choice;
      say(`${name}: a live cluster of ${trial.prepared.config.topology} …`);
      const found = await measured(trial, { ...asked, ...parts, stop: stops.first });
      if (found === undefined) break;
      if (found.void !== null) say(`the live figures of ${name} are void: ${found.void}`);
      figures.push(found);
    }
  } finally {
    stops.stopListening();
  }
  sayMissing(trials.slice(figures.length));
  return figures;
}

export interface LiveTest {
  readonly flags: ReplayFlags;
  /** The flags of the command line. */
  readonly given: GivenReplayFlags;
}

/** The clusters of a live test, and the load on them. */
export interface LiveTestParts {
  readonly clusterOf: (
    topology: string,
    flags: readonly string[],
  ) => Pick<DemoCluster, 'readyUnless' | 'stop'>;
  readonly bench: typeof quietBench;
  readonly metricsAt: (baseUrl: string) => Promise<PolicyMetrics>;
}

const PROCESSES: LiveTestParts = {
  clusterOf: (topology, flags) => new DemoCluster(topology, flags),
  bench: quietBench,
  metricsAt: policyMetricsAt,
};

/** The exit code of a test with these figures. */
export function liveExitCode(
  trials: readonly PolicyTrial[],
  figures: readonly LiveFigures[],
): number {
  if (figures.length < trials.length) return EXIT_CODES.incomplete;
  return figures.some((each) => each.void !== null) ? EXIT_CODES.void : EXIT_CODES.done;
}

function sayMissing(trials: readonly PolicyTrial[]): void {
  if (trials.length === 0) return;
  const names = trials.map(({ choice }) => choice.name).join(', ');
  say(`interrupted: no live figures of ${names}`);
}

/** Undefined: the test was interrupted. */
async function measured(
  trial: PolicyTrial,
  { stop, clusterOf, bench, ...asked }: LiveTest & LiveTestParts & { readonly stop: AbortSignal },
): Promise<LiveFigures | undefined> {
  if (stop.aborted) return undefined;
  const { config } = trial.prepared;
  const given = { ...partConfig(asked.given).config, ...trial.choice.options };
  const { topology: _named, ...options } = given;
  const cluster = clusterOf(config.topology, upFlags(options));
  try {
    const baseUrl = await cluster.readyUnless(stop);
    if (baseUrl === undefined) return undefined;
    const { document } = await bench(loadFlags(asked.flags, config, baseUrl), stop);
    if (document['was_interrupted'] === true) return undefined;
    const metrics = await asked.metricsAt(baseUrl);
    return figuresOf(document, { speedup: config.speedup, metrics });
  } finally {
    await cluster.stop();
  }
}

function loadFlags(
  { workload, slo }: ReplayFlags,
  { speedup, seed }: BatonConfig,
  baseUrl: string,
): BenchFlags {
  const rateScale = String(speedup * Number(workload.rateScale ?? 1));
  const load = { ...workload, rateScale, baseUrl, seed: String(seed) };
  return { ...readBenchFlags(load), slo: slo && onWallClock(slo, speedup) };
}

function figuresOf(
  document: ResultDocument,
  { speedup, metrics }: { readonly speedup: number; readonly metrics: PolicyMetrics },
): LiveFigures {
  const { request_goodput: goodput } = document as { request_goodput?: number | null };
  return {
    ttft_ms: Number(document['mean_ttft_ms']) * speedup,
    ttft_ms_p99: Number(document['p99_ttft_ms']) * speedup,
    tpot_ms: Number(document['mean_tpot_ms']) * speedup,
    goodput_rps: goodput == null ? null : goodput / speedup,
    completed: Number(document['completed']),
    prefix_hit_rate: metrics.prefixHitRate,
    imbalance: metrics.imbalance,
    policy_faults: metrics.policyFaults,
    void: voidReason(document),
  };
}

function onWallClock(slo: Slo, speedup: number): Slo {
  return Object.fromEntries(Object.entries(slo).map(([name, us]) => [name, us / speedup]));
}

function upFlags(config: GivenReplayFlags): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const flag = flagName(key);
    if (typeof value === 'string') return [flag, value];
    return [value ? flag : flag.replace('--', '--no-')];
  });
}
