import type { Stage } from '@baton/contract';
import { connectRedisTransport, type Transport } from '@baton/transport';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { configFromEnv } from '../config/child-config';
import type { BatonConfig } from '../config/config';
import { UsageError } from '../config/usage-error';
import { engineSetup } from '../engine-factory';
import { type WorkerProbe, workerProbe } from '../health/worker-probe';
import { createLogger, type Logger } from '../logs/logger';
import { cacheConfigLabels } from '../metrics/cache-config';
import { WorkerHosts } from './worker-hosts';

export interface WorkerProcessOptions {
  /** Roles that this app can play; the first when the configuration names none. */
  readonly roles: readonly Stage[];
  readonly module: (probe: WorkerProbe) => DynamicModule;
}

interface Parts {
  readonly app: NestFastifyApplication;
  readonly hosts: WorkerHosts;
  readonly transport: Transport;
  readonly log: Logger;
}

/** A worker process from its configuration (`configFromEnv`) to its end by a signal. Tells its parent `ready` once its engines are announced. */
export async function runWorker(options: WorkerProcessOptions): Promise<void> {
  try {
    const config = configFromEnv();
    const role = roleOf(config, options.roles);
    const parts = await startParts(config, role, options.module);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void end(parts));
    }
    const url = await parts.app.getUrl();
    parts.log.info({ url, engines: parts.hosts.hosts.length }, 'engines announced');
    process.send?.({ kind: 'ready', role, url });
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${sentence}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

function roleOf(config: BatonConfig, roles: readonly Stage[]): Stage {
  const role = config.role ?? roles[0];
  const known = roles.find((each) => each === role);
  if (known === undefined) {
    throw new UsageError(`this process plays ${roles.join(' or ')}, not ${String(role)}.`);
  }
  return known;
}

async function startParts(
  config: BatonConfig,
  role: Stage,
  module: WorkerProcessOptions['module'],
): Promise<Parts> {
  const { redis, redisPrefix: prefix } = config;
  if (redis === undefined) {
    throw new UsageError('a worker process needs --redis URL (or REDIS_URL).');
  }
  const { maxModelLen } = engineSetup(config, role).options;
  const log = createLogger({ name: process.env['BATON_PROCESS'] ?? role, level: config.logLevel });
  const transport = await connectRedisTransport({ url: redis, prefix });
  const engines = config.enginesPerProcess;
  const hosts = await WorkerHosts.start({ config, role, engines, transport, log });
  const probe = workerProbe(() => hosts.presences(), cacheConfigLabels(config, maxModelLen));
  const app = await NestFactory.create<NestFastifyApplication>(
    module(probe),
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  await app.listen({ host: config.workerHost, port: config.workerPort });
  return { app, hosts, transport, log };
}

async function end({ app, hosts, transport, log }: Parts): Promise<void> {
  log.info('draining');
  await hosts.stop();
  await app.close();
  await transport.close();
  log.info('ended');
  process.exit(0);
}
