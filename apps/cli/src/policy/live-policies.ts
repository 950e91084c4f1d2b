import { flagName } from '@baton/config';
import { readBenchFlags } from '../bench/bench-flags';
import { quietBench } from '../bench/bench';
import { DemoCluster } from '../bench/demo-cluster';
import type { PreparedReplay } from '@baton/replay';
import { partConfig, type GivenReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';

/** The results of a policy on the live clock, in simulated time. */
export interface LiveFigures {
  readonly ttft_ms: number;
  readonly tpot_ms: number;
  readonly completed: number;
  /** Choices that the fallback made in the API process. */
  readonly policy_faults: number;
}

/**
 * Sends the workload to a cluster of processes for each placement, one after the other, and stops
 * each cluster, also on Ctrl-C. A cluster with a speedup gets its requests faster by the same
 * factor.
 */
export async function livePolicies(
  placements: readonly string[],
  { prepared, flags, given }: LiveTrial,
): Promise<Map<string, LiveFigures>> {
  const stops = new StopRequests();
  const figures = new Map<string, LiveFigures>();
  try {
    for (const placement of placements) {
      if (stops.first.aborted) break;
      say(`${placement}: a live cluster of ${prepared.config.topology} …`);
      const parts = { prepared, flags, given, stop: stops.first };
      figures.set(placement, await measured(placement, parts));
    }
  } finally {
    stops.close();
  }
  return figures;
}

export interface LiveTrial {
  readonly prepared: PreparedReplay;
  readonly flags: ReplayFlags;
  /** The flags of the command line. */
  readonly given: GivenReplayFlags;
}

async function measured(
  placement: string,
  { prepared, flags, given, stop }: LiveTrial & { readonly stop: AbortSignal },
): Promise<LiveFigures> {
  const { speedup, topology, seed } = prepared.config;
  const { topology: _named, ...config } = partConfig(given).config;
  const cluster = new DemoCluster(topology, upFlags({ ...config, placement }));
  try {
    const baseUrl = await cluster.ready();
    const rateScale = String(speedup * Number(flags.workload.rateScale ?? 1));
    const load = { ...flags.workload, rateScale, baseUrl, seed: String(seed), disableTqdm: true };
    const document = await quietBench(readBenchFlags(load), stop);
    return {
      ttft_ms: Number(document['mean_ttft_ms']) * speedup,
      tpot_ms: Number(document['mean_tpot_ms']) * speedup,
      completed: Number(document['completed']),
      policy_faults: await faultsAt(baseUrl),
    };
  } finally {
    await cluster.stop();
  }
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
