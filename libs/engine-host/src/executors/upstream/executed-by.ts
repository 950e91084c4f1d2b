import type { BatonConfig } from '@baton/config';
import type { Stage } from '@baton/contract';
import type { EngineOptions } from '@baton/engine';
import { Executor } from '../../run/jobs/executor';
import type { HostOptions } from '../../run/tokens';
import { executorOf, readUpstreamCa, type ServerAddress } from '../server/executing';
import { UpstreamServer } from '../server/upstream-server';
import { IdleEngine } from './idle-engine';
import { type KvConnector, NIXL_PULL, NO_TRANSFER } from './kv-connector';
import { Mooncake } from './mooncake';
import { NixlPush } from './nixl-push';
import { PairedEnd } from './paired-end';
import { Sglang } from './sglang';
import { Upstream, UpstreamExecutor } from './upstream-executor';

export interface ExecutedEngine {
  readonly config: BatonConfig;
  readonly role: Stage;
  readonly options: Pick<EngineOptions, 'numBlocks'>;
}

/** An engine whose work runs on a server. */
export function executedBy(
  address: ServerAddress,
  engine: ExecutedEngine,
): Pick<HostOptions, 'buildEngine' | 'executor'> {
  const idle = new IdleEngine(engine.options.numBlocks);
  const server = serverAt(address, engine.config);
  const connector = makeConnector(address, engine, server);
  const metricsEveryMs = engine.config.upstreamMetricsInterval * 1_000;
  const upstream = new Upstream(server, connector, metricsEveryMs, idle);
  return {
    buildEngine: () => idle,
    executor: [
      PairedEnd,
      { provide: Upstream, useValue: upstream },
      { provide: Executor, useClass: UpstreamExecutor },
    ],
  };
}

function serverAt({ url }: ServerAddress, config: BatonConfig): UpstreamServer {
  const { upstreamApiKey: apiKey, upstreamTimeout } = config;
  const timeoutMs = Math.ceil(upstreamTimeout * 1_000);
  return new UpstreamServer({ url, apiKey, timeoutMs, ca: readUpstreamCa(config) });
}

function makeConnector(
  { url, bootstrapPort }: ServerAddress,
  { config, role }: ExecutedEngine,
  server: UpstreamServer,
): KvConnector {
  const executor = executorOf(config, role);
  if (role === 'prefill' && executorOf(config, 'decode') !== executor) return NO_TRANSFER;
  if (executor === 'llamacpp') return NIXL_PULL;
  const host = new URL(url).hostname;
  const bootstrap = bootstrapPort === undefined ? undefined : { host, port: bootstrapPort };
  switch (config.upstreamKvConnector) {
    case 'nixl':
      return NIXL_PULL;
    case 'nixl-push':
      return new NixlPush();
    case 'mooncake':
      return new Mooncake(server, bootstrap && `http://${host}:${bootstrap.port}`);
    case 'sglang':
      return new Sglang(bootstrap);
  }
}
