import { execFileSync } from 'node:child_process';
import { simulate, scenarioOf } from '@baton/simulation';
import { defaultConfig } from '@baton/config';
import { drawArrivals, generateSingleTurn, type Workload, workloadStream } from '@baton/workload';

/** Per engine of the cluster. */
const RATE_PER_SECOND = 5;
const PROMPT_TOKENS = 512;
const OUTPUT_TOKENS = 128;
const SEED = 1;
const TOPOLOGIES = ['4P8D', '32P64D', '128P256D'];

/**
 * The cost of a request by the size of the cluster, in user CPU time: each size once per round, in
 * a separate process.
 *
 *   node dist/bench/replay/cluster-size.js [requests] [rounds] [topology ...]
 */
function main([count = '200000', rounds = '3', ...given]: readonly string[]): void {
  const topologies = given.length > 0 ? given : TOPOLOGIES;
  const costs = topologies.map((): number[] => []);
  for (let round = 0; round < Number(rounds); round++) {
    for (const [i, topology] of topologies.entries()) costs[i]!.push(measured(topology, count));
  }
  const best = costs.map((ofSize) => Math.min(...ofSize));
  for (const [i, topology] of topologies.entries()) {
    say({ topology, user_us_per_request: costs[i], speed_beside_first: best[0]! / best[i]! });
  }
}

function say(row: unknown): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

function measured(topology: string, count: string): number {
  const args = [...process.execArgv, __filename, '--one', count, topology];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** µs per request, including the creation of the engines, without the drawing of the requests. */
function userUs(topology: string, count: number): number {
  const config = defaultConfig({ topology, maxWaitingRequests: 10_000_000 });
  const engines = topology.match(/\d+/g)!.reduce((sum, some) => sum + Number(some), 0);
  const scenario = scenarioOf(config, workloadOf(count, engines));
  const before = process.cpuUsage();
  simulate(scenario);
  return process.cpuUsage(before).user / count;
}

/** The requests of `--dataset random`. */
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

const [first, count = '', topology = ''] = process.argv.slice(2);
if (first === '--one') say(userUs(topology, Number(count)));
else main(process.argv.slice(2));
