import { type BatonConfig, defaultConfig } from '@baton/config';
import { type ClusterScenario, scenarioOf, simulate } from '@baton/simulation';
import { drawArrivals, generateSingleTurn, type Workload, workloadStream } from '@baton/workload';

/** Per engine of the cluster. */
const RATE_PER_SECOND = 5;
const PROMPT_TOKENS = 512;
const OUTPUT_TOKENS = 128;
const SEED = 1;

/** µs of user CPU per request without a front end, including the creation of the engines. */
export function clusterUserUs(topology: string, count: number): number {
  const scenario = randomScenario(clusterOf(topology), count);
  const before = process.cpuUsage();
  simulate(scenario);
  return process.cpuUsage(before).user / count;
}

export function clusterOf(topology: string): BatonConfig {
  return defaultConfig({ topology, maxWaitingRequests: 10_000_000 });
}

/** The requests of `--dataset random`, at a rate that fits the size of the cluster. */
export function randomScenario(config: BatonConfig, count: number): ClusterScenario {
  const engines = config.topology.match(/\d+/g)!.reduce((sum, some) => sum + Number(some), 0);
  return scenarioOf(config, workloadOf(count, engines));
}

function workloadOf(count: number, engines: number): Workload {
  const arrivals = workloadStream(SEED, 'arrivals');
  const ratePerSecond = RATE_PER_SECOND * engines;
  return generateSingleTurn({
    arrivalUs: drawArrivals({ kind: 'poisson', ratePerSecond }, { count }, arrivals),
    prompt: { kind: 'constant', tokens: PROMPT_TOKENS },
    output: { kind: 'constant', tokens: OUTPUT_TOKENS },
    blockTokens: 16,
    seed: SEED,
  });
}
