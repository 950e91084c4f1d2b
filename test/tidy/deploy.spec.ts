import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { configKeys, envName } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { debianProgram, missing } from '../support/debian-program';
import { read, ROOT } from './repository';

interface Service {
  readonly build?: { readonly dockerfile: string };
  readonly container_name?: string;
  readonly ports?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
};
const { redis, api, prefill, decode, prometheus, grafana, loadgen } = compose.services;

describe('docker-compose.yml', () => {
  it('has no top-level name, which older versions of compose refuse', () => {
    expect(compose.name).toBeUndefined();
  });

  it('has one service per role, each started as that role over the one Redis', () => {
    const watchers = ['prometheus', 'grafana', 'loadgen'];
    const services = Object.keys(compose.services);
    expect(services).toEqual(['redis', 'api', 'prefill', 'decode', ...watchers]);
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
    for (const service of [redis, api, prefill, decode, prometheus, grafana]) {
      expect(service?.healthcheck).toBeDefined();
    }
  });

  it('pleases docker-compose', (context) => {
    const program = debianProgram('docker-compose', 'docker-compose');
    if (!program) return context.skip(missing('docker-compose', 'docker-compose'));
    const { stderr, status } = spawnSync(program, ['config', '--quiet'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('shows boards to anybody, and lets nobody change them', () => {
    expect(grafana?.environment).toMatchObject({
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
    });
  });

  it('mounts only what is there, where the programs look for it', () => {
    const mounts = [prometheus, grafana].flatMap((service) => service?.volumes ?? []);
    expect(mounts).toHaveLength(3);
    for (const mount of mounts) {
      const [source = '', , mode] = mount.split(':');
      expect(existsSync(join(ROOT, source)), source).toBe(true);
      expect(mode).toBe('ro');
    }
    const home = grafana?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(existsSync(join(ROOT, 'deploy/grafana/dashboards', basename(home)))).toBe(true);
  });

  it('starts the load generator only when asked to', () => {
    expect(loadgen?.profiles).toEqual(['loadgen']);
    expect(loadgen?.command?.[0]).toBe('bench');
  });

  it('sets only options that exist', () => {
    const known = [...configKeys().map(envName), 'REDIS_URL'];
    for (const service of [api, prefill, decode]) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(service?.environment ?? {})));
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
