import {
  type BatonConfig,
  configFromEnv,
  createLogger,
  type Logger,
  UsageError,
} from '@baton/runtime';
import {
  attachInProcess,
  connectRedisTransport,
  InProcessHub,
  type Transport,
} from '@baton/transport';
import { ApiServer } from './api-server';

/** What ends with the process, in this order. */
interface Parts {
  readonly server: ApiServer;
  readonly logger: Logger;
  readonly close: () => Promise<void>;
}

/** The API process from its configuration to its end by a signal. Without Redis the whole topology runs in it. */
export async function runApi(): Promise<void> {
  try {
    const config = configFromEnv();
    const parts = await startParts(config);
    process.send?.({ kind: 'ready', role: 'api', url: parts.server.url });
    parts.logger.info({ url: parts.server.url }, 'listening');
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void end(parts));
    }
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${sentence}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

async function startParts(config: BatonConfig): Promise<Parts> {
  const logger = createLogger({ name: 'api', level: config.logLevel });
  const { redis } = config;
  if (redis !== undefined) {
    const transport = await connectRedisTransport({ url: redis, prefix: config.redisPrefix });
    logger.info({ broker: transport.description }, 'broker');
    const server = await ApiServer.start({ config, transport, logger });
    return { server, logger, close: () => transport.close() };
  }
  return startAlone(config, logger);
}

async function startAlone(config: BatonConfig, logger: Logger): Promise<Parts> {
  const hub = new InProcessHub();
  const transport: Transport = attachInProcess(hub);
  const server = await ApiServer.start({ config, transport, logger });
  return { server, logger, close: () => transport.close() };
}

async function end({ server, logger, close }: Parts): Promise<void> {
  await server.stop();
  await close();
  logger.info('ended');
  process.exit(0);
}
