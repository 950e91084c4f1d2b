import type { Slo } from '@baton/analysis';
import { type BatonConfig, flagName } from '@baton/config';
import { quietBench } from '../bench/bench';
import { type BenchFlags, readBenchFlags } from '../bench/bench-flags';
import { DemoCluster } from '../bench/demo-cluster';
import { type ResultDocument, voidReason } from '../bench/result-document';
import { EXIT_CODES } from '../exit-codes';
import { partConfig, type GivenReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { say } from '../say';
import { gpuHours } from './live-hours';
import { StopRequests } from '../up/stop-requests';
import { type CountedDecisions, type PolicyMetrics, policyMetricsAt } from './live-metrics';
import type { LiveDecisions } from './policy-kinds';
import type { LiveFigures, PolicyTrial } from './policy-outcome';

/**
 * Sends the workload to a cluster of processes for each policy, one after the other, and stops
 * each cluster, also on Ctrl-C; a second Ctrl-C stops it at once. A cluster with a speedup gets its
 * requests faster by the same factor.
 *
 * @returns the figures of the first trials in their order; of all, unless it was interrupted
 */
export async function livePolicies(
  trials: readonly PolicyTrial[],
  requested: LiveTest,
  parts: LiveTestParts = PROCESSES,
): Promise<LiveFigures[]> {
  const stops = new StopRequests();
  const figures: LiveFigures[] = [];
  try {
    for (const trial of trials) {
      const { name } = trial.choice;
      say(`${name}: a live cluster of ${trial.prepared.config.topology} …`);
      const found = await measured(trial, { ...requested, ...parts, stops });
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
  /**
   * The decisions of the API's router that the policies make. Undefined when they make none there.
   */
  readonly decisions?: LiveDecisions | undefined;
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
  {
    stops: { first: stop, second: stopAtOnce },
    clusterOf,
    bench,
    ...requested
  }: LiveTest & LiveTestParts & { readonly stops: StopRequests },
): Promise<LiveFigures | undefined> {
  if (stop.aborted) return undefined;
  const { config } = trial.prepared;
  const given = { ...partConfig(requested.given).config, ...trial.choice.options };
  const { topology: _named, ...options } = given;
  const cluster = clusterOf(config.topology, upFlags(options));
  stopAtOnce.addEventListener('abort', () => void cluster.stop());
  try {
    const baseUrl = await cluster.readyUnless(stop);
    if (baseUrl === undefined) return undefined;
    const before = await requested.metricsAt(baseUrl);
    const beganMs = performance.now();
    const { document } = await bench(loadFlags(requested.flags, config, baseUrl), stop);
    if (document['was_interrupted'] === true) return undefined;
    const after = await requested.metricsAt(baseUrl);
    const betweenSeconds = (performance.now() - beganMs) / 1_000;
    return figuresOf(trial, document, { scrapes: [before, after], betweenSeconds, ...requested });
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

interface Scraped extends Pick<LiveTest, 'decisions'> {
  readonly scrapes: readonly [PolicyMetrics, PolicyMetrics];
  readonly betweenSeconds: number;
}

function figuresOf(
  { prepared: { config, scenario } }: PolicyTrial,
  document: ResultDocument,
  { scrapes, betweenSeconds, decisions }: Scraped,
): LiveFigures {
  const { speedup } = config;
  const [, metrics] = scrapes;
  const loadSeconds = Number(document['duration']);
  const { request_goodput: goodput } = document as { request_goodput?: number | null };
  return {
    ttft_ms: Number(document['mean_ttft_ms']) * speedup,
    ttft_ms_p99: Number(document['p99_ttft_ms']) * speedup,
    tpot_ms: Number(document['mean_tpot_ms']) * speedup,
    goodput_rps: goodput == null ? null : goodput / speedup,
    completed: Number(document['completed']),
    prefix_hit_rate: metrics.prefixHitRate,
    imbalance: metrics.imbalance,
    decisions_per_second: perSecond(metrics.decisions, decisions),
    gpu_hours: gpuHours(scenario, scrapes, { betweenSeconds, loadSeconds, speedup }),
    policy_faults: metrics.policyFaults,
    void: voidReason(document),
  };
}

/** Null: the policies made no such decision in the API. */
function perSecond(counted: readonly CountedDecisions[], wanted?: LiveDecisions): number | null {
  const own = counted.filter(({ kind, stage }) => {
    return kind === wanted?.kind && (wanted.stage ?? stage) === stage;
  });
  const count = own.reduce((sum, each) => sum + each.count, 0);
  const seconds = own.reduce((sum, each) => sum + each.seconds, 0);
  return count === 0 || seconds === 0 ? null : count / seconds;
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
