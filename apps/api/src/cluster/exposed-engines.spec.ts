import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { BatonConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import type { HttpAdapterHost } from '@nestjs/core';
import { expect, it } from 'vitest';
import type { Listeners } from '../http/listeners';
import type { ApiProcesses } from '../processes/api-processes';
import type { ClusterView } from './cluster-view';
import { ExposedEngines } from './exposed-engines';

it('keeps the port of an engine that could not accept a connection, and closes it at the end', async () => {
  const servers: Server[] = [];
  const create = (): Server => {
    servers.push(createServer());
    return servers.at(-1)!;
  };
  const engine = { engineId: 'p', index: 0, name: 'P0', stage: 'prefill' } as EnginePresence;
  let onEngines: (engines: readonly EnginePresence[]) => void = () => undefined;
  const exposed = new ExposedEngines(
    { exposeEngines: true, exposeEnginesPort: 0, host: '127.0.0.1' } as BatonConfig,
    { info: () => undefined, warn: () => undefined } as unknown as Logger,
    {
      onEngines: (listener: typeof onEngines) => (onEngines = listener),
      living: () => [engine],
      awakeMs: () => 0,
    } as unknown as ClusterView,
    { create } as unknown as Listeners,
    {
      listen$: { subscribe: (listener: () => void) => listener() },
      httpAdapter: { getInstance: () => ({}) },
    } as unknown as HttpAdapterHost,
    { place: 0 } as ApiProcesses,
  );
  exposed.onModuleInit();
  const [server] = servers;
  await once(server!, 'listening');
  for (const code of ['ENFILE', 'ECONNABORTED']) server!.emit('error', new Error(code));
  onEngines([engine]);
  expect(servers).toHaveLength(1);
  exposed.beforeApplicationShutdown();
  expect(server!.listening).toBe(false);
});
