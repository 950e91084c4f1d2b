import type { Slo } from '@baton/analysis';
import { flagName } from '@baton/config';
import { readBenchFlags } from '../bench/bench-flags';
import { quietBench } from '../bench/bench';
import { DemoCluster } from '../bench/demo-cluster';
import { partConfig, type GivenReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';
import type { LiveFigures, PolicyTrial } from './policy-outcome';

/**
 * Sends the workload to a cluster of processes for each policy, one after the other, and stops
 * each cluster, also on Ctrl-C. A cluster with a speedup gets its requests faster by the same
 * factor.
 */
export async function livePolicies(
  trials: readonly PolicyTrial[],
  asked: LiveTest,
): Promise<LiveFigures[]> {
  const stops = new StopRequests();
  const figures: LiveFigures[] = [];
  try {
    for (const trial of trials) {
      if (stops.first.aborted) break;
      say(`${trial.choice.name}: a live cluster of ${trial.prepared.config.topology} …`);
      figures.push(await measured(trial, { ...asked, stop: stops.first }));
    }
  } finally {
    stops.close();
  }
  return figures;
}

export interface LiveTest {
  readonly flags: ReplayFlags;
  /** The flags of the command line. */
  readonly given: GivenReplayFlags;
}

async function measured(
  { choice, prepared }: PolicyTrial,
  { flags, given, stop }: LiveTest & { readonly stop: AbortSignal },
): Promise<LiveFigures> {
  const { speedup, topology, seed } = prepared.config;
  const config = { ...partConfig(given).config, ...choice.options };
  const { topology: _named, ...options } = config;
  const cluster = new DemoCluster(topology, upFlags(options));
  try {
    const baseUrl = await cluster.ready();
    const rateScale = String(speedup * Number(flags.workload.rateScale ?? 1));
    const load = { ...flags.workload, rateScale, baseUrl, seed: String(seed), disableTqdm: true };
    const slo = flags.slo && onWallClock(flags.slo, speedup);
    const document = await quietBench({ ...readBenchFlags(load), slo }, stop);
    const { request_goodput: goodput } = document as { request_goodput?: number | null };
    return {
      ttft_ms: Number(document['mean_ttft_ms']) * speedup,
      ttft_ms_p99: Number(document['p99_ttft_ms']) * speedup,
      tpot_ms: Number(document['mean_tpot_ms']) * speedup,
      goodput_rps: goodput == null ? null : goodput / speedup,
      completed: Number(document['completed']),
      policy_faults: await faultsAt(baseUrl),
    };
  } finally {
    await cluster.stop();
  }
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

async function faultsAt(baseUrl: string): Promise<number> {
  const page = await (await fetch(`${baseUrl}/metrics`)).text();
  const lines = page.split('\n').filter((line) => line.startsWith('baton:policy_faults_total{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
