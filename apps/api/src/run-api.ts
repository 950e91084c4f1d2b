import { STAGES } from '@baton/contract';
import { parseTopology, TopologyError } from '@baton/placement';
import {
  type BatonConfig,
  configFromEnv,
  createLogger,
  type Logger,
  UsageError,
  WorkerHosts,
} from '@baton/runtime';
import { attachInProcess, connectRedisTransport, InProcessHub } from '@baton/transport';
import { ApiServer } from './api-server';

interface Parts {
  readonly server: ApiServer;
  readonly log: Logger;
  /** Ends what the front stands on; called when the front has ended. */
  readonly close: () => Promise<void>;
}

/**
 * The API process from its configuration (`configFromEnv`) to its end by a signal. Without Redis it is the whole cluster: the engines of the topology
 * run in it too. Tells its parent `ready` once it listens.
 */
export async function runApi(): Promise<void> {
  try {
    const config = configFromEnv();
    const log = createLogger({
      name: process.env['BATON_PROCESS'] ?? 'api',
      level: config.logLevel,
    });
    const parts = await (config.redis === undefined
      ? startCluster(config, log)
      : startFront(config, config.redis, log));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void end(parts));
    }
    log.info({ url: parts.server.url }, 'listening');
    process.send?.({ kind: 'ready', role: 'api', url: parts.server.url });
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${sentence}\n`);
    const isWrongUsage = error instanceof UsageError || error instanceof TopologyError;
    process.exit(isWrongUsage ? 2 : 1);
  }
}

async function startFront(config: BatonConfig, redis: string, log: Logger): Promise<Parts> {
  const transport = await connectRedisTransport({ url: redis, prefix: config.redisPrefix });
  log.info({ broker: transport.description }, 'connected');
  const server = await ApiServer.start({ config, transport, log });
  return { server, log, close: () => transport.close() };
}

/** Front and engines in one process, over the in-process transport. */
async function startCluster(config: BatonConfig, log: Logger): Promise<Parts> {
  const hub = new InProcessHub();
  const topology = parseTopology(config.topology);
  const transports = STAGES.map(() => attachInProcess(hub));
  const started = await Promise.all(
    STAGES.map((role, i) => {
      const transport = transports[i] ?? attachInProcess(hub);
      return WorkerHosts.start({ config, role, engines: topology[role], transport, log });
    }),
  );
  const front = attachInProcess(hub);
  const server = await ApiServer.start({ config, transport: front, log });
  const close = async (): Promise<void> => {
    await Promise.all(started.map((hosts) => hosts.stop()));
    await Promise.all([front, ...transports].map((transport) => transport.close()));
  };
  return { server, log, close };
}

async function end({ server, log, close }: Parts): Promise<void> {
  await server.stop();
  await close();
  log.info('ended');
  process.exit(0);
}
