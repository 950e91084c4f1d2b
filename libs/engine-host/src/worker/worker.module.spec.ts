import { defaultConfig } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, type Transport } from '@baton/transport';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerHosts } from './worker-hosts';
import { WorkerModule } from './worker.module';

describe('a worker process', () => {
  let transport: Transport;
  let app: NestFastifyApplication;
  let state: EnginePresence['state'];
  let stop: () => Promise<void>;
  let url: string;

  beforeEach(async () => {
    state = 'ready';
    stop = () => Promise.resolve();
    transport = attachInProcess();
    const hosts = { presences: () => [{ state }], stop: () => stop() };
    const dependencies = {
      config: defaultConfig(),
      maxModelLen: 1_000,
      hosts: hosts as unknown as WorkerHosts,
      transport,
      log: createLogger({ name: 'test', level: 'silent' }),
    };
    app = await NestFactory.create<NestFastifyApplication>(
      WorkerModule.forRoot(dependencies),
      new FastifyAdapter(),
      { logger: false, abortOnError: false },
    );
    await app.listen({ host: '127.0.0.1', port: 0 });
    url = await app.getUrl();
  });

  afterEach(async () => {
    await app.close();
    await transport.close();
  });

  async function statusAt(path: string): Promise<number> {
    const answer = await fetch(`${url}${path}`);
    await answer.text();
    return answer.status;
  }

  it('is ready while an engine takes work, and always healthy', async () => {
    expect(await statusAt('/health/ready')).toBe(200);
    state = 'draining';
    expect([await statusAt('/health/ready'), await statusAt('/health')]).toEqual([503, 200]);
  });

  it('serves its health until its engines have drained', async () => {
    let drained = 0;
    stop = async () => {
      drained = await statusAt('/health');
    };
    await app.close();
    stop = () => Promise.resolve();
    expect(drained).toBe(200);
    await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  });
});
