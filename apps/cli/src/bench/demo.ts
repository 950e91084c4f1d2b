import { join, resolve } from 'node:path';
import { UsageError } from '@baton/config';
import { parseTopology, TopologyError } from '@baton/policies';
import { EXIT_CODES } from '../exit-codes';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';
import { type BenchOutcome, claimResult, runBench } from './bench';
import { type BenchFlags, type Given, readBenchFlags } from './bench-flags';
import { DemoCluster } from './demo-cluster';
import { besideTwin, virtualTwin } from './virtual-twin';

const TOPOLOGY = '2P2D';
const OUT = join('out', 'demo');
/** 15 s of requests with common prefixes. */
const LOAD = { dataset: 'shared-prefix', numPrompts: '300', requestRate: '20' };
const WARM_UPS = '16';
const GOODPUT = ['ttft:200', 'tpot:20'];

/**
 * `baton demo`: runs a cluster, a load and a report, and stops the cluster at the end. Ctrl-C ends
 * the load, and the report then has the results so far. Returns the exit code.
 */
export async function demo(requested: string | undefined, given: Given): Promise<number> {
  const topology = checked(requested ?? TOPOLOGY);
  const isOwn = given['dataset'] !== undefined || given['trace'] !== undefined;
  const standard = { numWarmups: WARM_UPS, goodput: GOODPUT, out: OUT };
  const wanted = { ...(isOwn ? {} : LOAD), ...standard, ...given };
  const planned = readBenchFlags(wanted);
  claimResult(planned);
  const stops = new StopRequests();
  const cluster = new DemoCluster(topology);
  stops.second.addEventListener('abort', () => void cluster.stop());
  try {
    say(`starting a cluster of ${topology} …`);
    const baseUrl = await cluster.readyUnless(stops.first);
    if (baseUrl === undefined) return EXIT_CODES.incomplete;
    say(`the cluster is ready at ${baseUrl}; sending requests …`);
    const outcome = await runBench(readBenchFlags({ ...wanted, baseUrl }), stops.first);
    if (!planned.result.json) await showResult(planned, topology, outcome);
    return outcome.exitCode;
  } finally {
    await cluster.stop();
    stops.stopListening();
  }
}

/** @throws UsageError before anything starts */
function checked(topology: string): string {
  try {
    parseTopology(topology);
    return topology;
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/** Shows a complete run next to the same run on the virtual clock. */
async function showResult(
  flags: BenchFlags,
  topology: string,
  { exitCode, document }: BenchOutcome,
): Promise<void> {
  if (exitCode !== EXIT_CODES.incomplete) {
    const twin = await virtualTwin(flags, topology);
    process.stdout.write(`${besideTwin(document, twin)}\n`);
  }
  process.stdout.write(`report: ${resolve(flags.result.out ?? OUT, 'report.html')}\n`);
}
