import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configKeys, envName } from '@baton/runtime';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { read, ROOT } from './repository';

interface Service {
  readonly build?: { readonly dockerfile: string };
  readonly container_name?: string;
  readonly ports?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
};
const { redis, api, prefill, decode } = compose.services;

describe('docker-compose.yml', () => {
  it('has no top-level name, which older versions of compose refuse', () => {
    expect(compose.name).toBeUndefined();
  });

  it('has one service per role, each started as that role over the one Redis', () => {
    expect(Object.keys(compose.services)).toEqual(['redis', 'api', 'prefill', 'decode']);
    for (const [role, service] of Object.entries({ api, prefill, decode })) {
      expect(service?.command).toEqual(['up', '--role', role]);
      expect(service?.environment?.['REDIS_URL']).toBe('redis://redis:6379');
      expect(service?.depends_on?.['redis']?.condition).toBe('service_healthy');
    }
  });

  it('lets workers scale: no fixed name, no fixed port', () => {
    for (const worker of [prefill, decode]) {
      expect(worker?.container_name).toBeUndefined();
      expect(worker?.ports).toBeUndefined();
    }
  });

  it('knows how every service is doing', () => {
    for (const service of [redis, api, prefill, decode]) expect(service?.healthcheck).toBeDefined();
  });

  it('sets only options that exist', () => {
    const known = [...configKeys().map(envName), 'REDIS_URL'];
    for (const service of Object.values(compose.services)) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(service.environment ?? {})));
    }
  });

  it('builds from a Dockerfile that is there', () => {
    expect(read(api?.build?.dockerfile ?? '')).toMatch(/^FROM /m);
  });
});

describe('the Dockerfile', () => {
  const path = join(ROOT, 'deploy/docker/Dockerfile');

  it('pleases its linter', () => {
    const linter = join(ROOT, 'node_modules/.bin/dockerfilelint');
    const { stdout, status } = spawnSync(process.execPath, [linter, '--json', path], {
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toMatchObject({ totalIssues: 0 });
    expect(status).toBe(0);
  });

  it('does not run as root, and starts the command', () => {
    const lines = read('deploy/docker/Dockerfile').split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['USER node', 'ENTRYPOINT ["node", "bin/baton"]']),
    );
  });

  it('copies only what the repository has', () => {
    const sources = read('deploy/docker/Dockerfile')
      .split('\n')
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
  });
});
