import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ClientReadableStream,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { FakeEngine } from '../../../test/fake-engine';
import { freePort } from '../../../../../test/support/free-port';

/** grpc/health/v1/health.proto, without its comments. */
const PROTO = `
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
`;
const NOT_FOUND = 5;

interface Answer {
  readonly status: string;
}

type Callback = (error: Error | null, answer: Answer) => void;

interface HealthClient {
  Check(request: { service?: string }, callback: Callback): void;
  Watch(request: { service?: string }): ClientReadableStream<Answer>;
  close(): void;
}

function clientOf(address: string): HealthClient {
  const folder = mkdtempSync(join(tmpdir(), 'baton-grpc-'));
  const file = join(folder, 'health.proto');
  writeFileSync(file, PROTO);
  const found = loadPackageDefinition(loadSync(file, { enums: String }));
  rmSync(folder, { recursive: true });
  const { health } = found['grpc'] as GrpcObject;
  const { v1 } = health as GrpcObject;
  const Health = (v1 as GrpcObject)['Health'] as ServiceClientConstructor;
  return new Health(address, credentials.createInsecure()) as unknown as HealthClient;
}

describe("gRPC's health protocol", () => {
  let fixture: ApiFixture;
  let client: HealthClient;
  let engine: FakeEngine | undefined;
  beforeAll(async () => {
    const grpcHealthPort = await freePort();
    fixture = await ApiFixture.start({ engines: [], config: { grpcHealthPort } });
    client = clientOf(`127.0.0.1:${grpcHealthPort}`);
  });
  afterAll(async () => {
    client.close();
    await fixture.stop();
    await engine?.stop();
  });

  const check = (request: { service?: string }): Promise<string> =>
    new Promise((resolve, reject) => {
      client.Check(request, (error, answer) => (error ? reject(error) : resolve(answer.status)));
    });

  it('reports readiness as /health does, and that the process runs', async () => {
    expect((await fetch(`${fixture.api.url}/health`)).status).toBe(503);
    expect(await check({})).toBe('NOT_SERVING');
    expect(await check({ service: 'readiness' })).toBe('NOT_SERVING');
    expect(await check({ service: 'liveness' })).toBe('SERVING');
  });

  it('has no other service', async () => {
    await expect(check({ service: 'other' })).rejects.toMatchObject({ code: NOT_FOUND });
    await expect(check({ service: 'x'.repeat(300) })).rejects.toMatchObject({ code: NOT_FOUND });
  });

  it('sends a watch the status at once, and again on each change', async () => {
    const told: string[] = [];
    const [watch, other] = [client.Watch({}), client.Watch({ service: 'other' })];
    const seen = (count: number): Promise<void> =>
      new Promise((resolve) => {
        if (told.length >= count) resolve();
        else watch.once('data', () => resolve(seen(count)));
      });
    watch.on('data', ({ status }: Answer) => told.push(status));
    for (const one of [watch, other]) one.on('error', () => undefined);
    await seen(1);
    engine = await FakeEngine.start(fixture.hub, { isEager: true });
    await seen(2);
    expect(told).toEqual(['NOT_SERVING', 'SERVING']);
    expect(await check({})).toBe('SERVING');
    const first = await new Promise<Answer>((resolve) => other.once('data', resolve));
    expect(first.status).toBe('SERVICE_UNKNOWN');
    watch.cancel();
    other.cancel();
  });
});
