import {
  type BatonConfig,
  configFromEnv,
  engineSetup,
  transportTimes,
  UsageError,
} from '@baton/config';
import type { ChildMessage, Stage } from '@baton/contract';
import { reasonOf } from '@baton/kernel';
import { formatTopology, parseEngines, TopologyError } from '@baton/policies';
import { processLogger } from '@baton/telemetry';
import { connectRedisTransport } from '@baton/transport';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Stages } from '../engine.module';
import type { WorkerDependencies } from './engines.module';
import { WorkerHosts, type WorkerHostsOptions } from './worker-hosts';
import { WorkerModule } from './worker.module';

export interface WorkerProcessOptions {
  /** Roles of this app; the first is the default. */
  readonly roles: readonly Stage[];
  readonly stages: Stages;
}

interface Parts extends WorkerDependencies {
  readonly app: NestFastifyApplication;
  isEnding: boolean;
}

/**
 * A worker process from its configuration (`configFromEnv`) to its end: by a signal, or when its
 * last engine has left the cluster. Sends its parent `ready` once its engines are announced, and a
 * message when they change.
 */
export async function runWorker(options: WorkerProcessOptions): Promise<void> {
  try {
    const config = configFromEnv();
    const role = roleOf(config, options.roles);
    const parts = await startParts(config, role, options.stages);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void end(parts));
    }
    const url = await parts.app.getUrl();
    parts.log.info({ url, engines: parts.hosts.hosts.length }, 'engines announced');
    sendToParent({ kind: 'ready', role, url });
    parts.hosts.onChange(() => {
      sendToParent({ kind: 'engines', engines: formatTopology(parts.hosts.counts) });
      if (parts.hosts.isEmpty) void end(parts);
    });
  } catch (error) {
    endWith(error);
  }
}

function sendToParent(message: ChildMessage): void {
  process.send?.(message);
}

function endWith(error: unknown): never {
  process.stderr.write(`${reasonOf(error)}\n`);
  const isWrongUsage = error instanceof UsageError || error instanceof TopologyError;
  process.exit(isWrongUsage ? 2 : 1);
}

function roleOf(config: BatonConfig, roles: readonly Stage[]): Stage {
  const role = config.role ?? roles[0];
  const known = roles.find((each) => each === role);
  if (known === undefined) {
    throw new UsageError(
      `the role of this process must be ${roles.join(' or ')}, not ${String(role)}.`,
    );
  }
  return known;
}

async function startParts(config: BatonConfig, role: Stage, stages: Stages): Promise<Parts> {
  const { redis, redisPrefix: prefix } = config;
  if (redis === undefined) {
    throw new UsageError('a worker process needs --redis URL (or REDIS_URL).');
  }
  const { maxModelLen } = engineSetup(config, role).options;
  const log = processLogger(config, role);
  const times = transportTimes(config);
  const transport = await connectRedisTransport({
    url: redis,
    prefix,
    times,
  });
  // A failed start of an engine ends the process: a restart has what this one lacks.
  const options = { config, stages, transport, log, onFailure: endWith };
  const hosts = await WorkerHosts.start({ ...options, engines: enginesOf(config, role) });
  const dependencies = { config, maxModelLen, hosts, transport, log };
  const app = await NestFactory.create<NestFastifyApplication>(
    WorkerModule.forRoot(dependencies),
    new FastifyAdapter(),
    { logger: false, abortOnError: false },
  );
  await app.listen({ host: config.workerHost, port: config.workerPort });
  return { ...dependencies, app, isEnding: false };
}

/** The engines of its configured role, or those that it had before its last restart. */
function enginesOf(config: BatonConfig, role: Stage): WorkerHostsOptions['engines'] {
  if (config.workerEngines !== undefined) return parseEngines(config.workerEngines);
  return { [role]: config.enginesPerProcess ?? 1 };
}

async function end(parts: Parts): Promise<void> {
  if (parts.isEnding) return;
  parts.isEnding = true;
  const { app, transport, log } = parts;
  log.info('draining');
  await app.close();
  await transport.close();
  log.info('ended');
  process.exit(0);
}
