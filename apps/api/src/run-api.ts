import {
  type BatonConfig,
  isScaled,
  needsApiKey,
  readApiKeys,
  transportTimes,
} from '@baton/config';
import type { ChildMessage } from '@baton/contract';
import { parseTopology } from '@baton/policies';
import {
  faultReporter,
  ChangeSchedule,
  type LiveMembership,
  WorkerHosts,
} from '@baton/engine-host';
import { type Logger, processLogger } from '@baton/telemetry';
import {
  attachInProcess,
  connectRedisTransport,
  InProcessHub,
  type Transport,
} from '@baton/transport';
import { DecodeWay } from '../../decode/src/decode-way';
import { PrefillWay } from '../../prefill/src/prefill-way';
import { ApiServer } from './api-server';
import { SupervisorLink } from './endpoints/admin/supervisor-link';
import { apiProcessesOf } from './processes/count';
import { ApiProcesses } from './processes/api-processes';

interface Parts {
  readonly server: ApiServer;
  readonly log: Logger;
  /** Closes what the front depends on; called after the front has ended. */
  readonly close: () => Promise<void>;
}

/**
 * The API process from its configuration to its end by a signal. Without Redis it is the whole
 * cluster: the engines of the topology run in it too. It sends its parent `ready` once it listens.
 */
export async function runApi(config: BatonConfig): Promise<void> {
  const log = processLogger(config, 'api');
  const apiProcesses = ApiProcesses.ofThisProcess(apiProcessesOf(config));
  const parts = await (config.redis === undefined
    ? startCluster(config, log)
    : startFront(config, config.redis, { log, apiProcesses }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void end(parts));
  }
  log.info({ url: parts.server.url }, 'listening');
  const { generatedAdminKey } = parts.server;
  // Printed, not logged: log levels could hide it, and log files could expose it.
  if (generatedAdminKey !== undefined && apiProcesses.place === 0) {
    process.stderr.write(adminKeyLine(config, generatedAdminKey));
  }
  const ready: ChildMessage = { kind: 'ready', role: 'api', url: parts.server.url };
  process.send?.(ready);
}

function adminKeyLine(config: BatonConfig, key: string): string {
  const isOpenHere = !needsApiKey(config);
  const who = isOpenHere ? 'from other machines needs' : 'needs';
  return `Administration ${who} this key, made for this run (admin_api_key sets one): ${key}\n`;
}

interface Surroundings {
  readonly log: Logger;
  readonly apiProcesses: ApiProcesses;
}

async function startFront(
  config: BatonConfig,
  redis: string,
  { log, apiProcesses }: Surroundings,
): Promise<Parts> {
  const times = transportTimes(config);
  const { redisPrefix: prefix } = config;
  const transport = await connectRedisTransport({
    url: redis,
    prefix,
    tenants: [...new Set(readApiKeys(config).map(({ tenant }) => tenant))],
    times,
    loadsJobs: true,
  });
  log.info({ broker: transport.description }, 'connected');
  const starter = SupervisorLink.ofThisProcess();
  const server = await ApiServer.start({ config, transport, log, starter, apiProcesses });
  return { server, log, close: () => transport.close() };
}

/** Front and engines in one process, over the in-process transport. */
async function startCluster(config: BatonConfig, log: Logger): Promise<Parts> {
  const hub = new InProcessHub(transportTimes(config));
  const [front, back] = [attachInProcess(hub), attachInProcess(hub)];
  const engines = parseTopology(config.topology);
  const stages = { prefill: PrefillWay, decode: DecodeWay };
  const hosts = await WorkerHosts.start({ config, engines, stages, transport: back, log });
  const starter = { start: hosts.join.bind(hosts) };
  const server = await ApiServer.start({ config, transport: front, log, starter });
  const { membership } = server;
  const schedule = await makeFollower(config, { membership, transport: back }, (line) => {
    log.info(line);
  });
  void schedule.run();
  const close = async (): Promise<void> => {
    schedule.stop();
    await hosts.stop();
    await Promise.all([front, back].map((transport) => transport.close()));
  };
  return { server, log, close };
}

/** Carries out the configured changes, or the autoscaler's decisions. */
async function makeFollower(
  config: BatonConfig,
  { membership, transport }: { membership: LiveMembership; transport: Transport },
  say: (sentence: string) => void,
): Promise<{ run(): Promise<void>; stop(): void }> {
  if (!isScaled(config)) return new ChangeSchedule({ config, membership, say });
  const { liveAutoscaler } = await import('@baton/supervisor');
  return liveAutoscaler(config, {
    membership,
    say,
    onPolicyFault: faultReporter(transport, say),
  });
}

async function end({ server, log, close }: Parts): Promise<void> {
  await server.stop();
  await close();
  log.info('ended');
  process.exit(0);
}
