import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { configKeys, envName } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { read, ROOT } from './repository';

interface Service {
  readonly build?: { readonly dockerfile: string };
  readonly container_name?: string;
  readonly scale?: string;
  readonly cpus?: number;
  readonly mem_limit?: string;
  readonly ports?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly start_period?: string };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly depends_on?: readonly string[];
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
};
const { redis, api, prefill, decode, prometheus, grafana, loadgen } = compose.services;

describe('docker-compose.yml', () => {
  it('has no top-level name, because older versions of compose refuse it', () => {
    expect(compose.name).toBeUndefined();
  });

  it('has one service per role, each started as that role over the one Redis', () => {
    const watchers = ['prometheus', 'grafana', 'loadgen'];
    const services = Object.keys(compose.services);
    expect(services).toEqual(['redis', 'api', 'prefill', 'decode', ...watchers]);
    for (const [role, service] of Object.entries({ api, prefill, decode })) {
      expect(service?.command).toEqual(['up', '--role', role]);
      expect(service?.environment?.['REDIS_URL']).toBe('redis://:${REDIS_PASSWORD:-}@redis:6379');
      expect(service?.depends_on).toEqual(['redis']);
    }
  });

  it('lets workers scale: no fixed name, no fixed port', () => {
    for (const worker of [prefill, decode]) {
      expect(worker?.container_name).toBeUndefined();
      expect(worker?.ports).toBeUndefined();
    }
  });

  it('starts the topology that it reports, without --scale', () => {
    const counts = { prefill: '${PREFILL_ENGINES:-2}', decode: '${DECODE_ENGINES:-3}' };
    expect([prefill?.scale, decode?.scale]).toEqual([counts.prefill, counts.decode]);
    for (const service of [api, prefill, decode]) {
      const topology = service?.environment?.['BATON_TOPOLOGY'];
      expect(topology).toBe(`${counts.prefill}P${counts.decode}D`);
    }
  });

  it('limits memory and CPU of every service', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service.cpus, name).toBe(1);
      expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
    }
  });

  it('checks the health of every service', () => {
    for (const service of [redis, api, prefill, decode, prometheus, grafana]) {
      expect(service?.healthcheck).toBeDefined();
    }
  });

  it('checks health without a Node process, and allows time for the start', () => {
    for (const service of [api, prefill, decode]) {
      expect(service?.healthcheck?.test?.slice(0, 2)).toEqual(['CMD', 'bin/healthy']);
      expect(service?.healthcheck?.start_period).toBe('60s');
    }
    expect(read('bin/healthy')).toMatch(/^#!\/bin\/bash\n/);
  });

  it('publishes only on this machine by default', () => {
    for (const service of [api, prometheus, grafana]) {
      expect(service?.ports).toHaveLength(1);
      expect(service?.ports?.[0]).toMatch(/^\$\{BATON_PUBLISH:-127\.0\.0\.1\}:/);
    }
    expect(redis?.ports).toBeUndefined();
  });

  it('starts Redis without protected mode, and with the password that it gives to clients', () => {
    expect(redis?.command).toContain('--protected-mode no');
    expect(redis?.command).toContain('--requirepass "${REDIS_PASSWORD:-}"');
    expect(redis?.environment?.['REDISCLI_AUTH']).toBe('${REDIS_PASSWORD:-}');
  });

  it('gives containers a read-only file system and no capabilities', () => {
    for (const service of [api, prefill, decode, loadgen]) {
      expect(service).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
    }
  });

  it('shows boards to all visitors, read-only, and has no admin with a default password', () => {
    expect(grafana?.environment).toMatchObject({
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_AUTH_DISABLE_LOGIN_FORM: 'true',
      GF_AUTH_BASIC_ENABLED: 'false',
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
    });
  });

  it('mounts only existing files, at the paths that programs read', () => {
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

  it('starts the load generator only on request', () => {
    expect(loadgen?.profiles).toEqual(['loadgen']);
    expect(loadgen?.command?.[0]).toBe('bench');
  });

  it('sets only existing options', () => {
    const known = [...configKeys().map(envName), 'REDIS_URL'];
    for (const service of [api, prefill, decode]) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(service?.environment ?? {})));
    }
  });

  it('builds from an existing Dockerfile', () => {
    expect(read(api?.build?.dockerfile ?? '')).toMatch(/^FROM /m);
  });
});

describe('the Dockerfile', () => {
  const path = join(ROOT, 'deploy/docker/Dockerfile');

  it('passes its linter', () => {
    const linter = join(ROOT, 'node_modules/.bin/dockerfilelint');
    const { stdout } = spawnSync(process.execPath, [linter, '--json', path], {
      encoding: 'utf8',
    });
    const { files } = JSON.parse(stdout) as { files: { issues: { content: string }[] }[] };
    // It reads `--start-period` as `--start`, and a stage as an image without a tag.
    const issues = (files[0]?.issues ?? []).filter(
      ({ content }) => !/^(HEALTHCHECK .*--start-period=|FROM packages AS build$)/.test(content),
    );
    expect(files).toHaveLength(1);
    expect(issues).toEqual([]);
  });

  it('does not run as root, and starts the command', () => {
    const lines = read('deploy/docker/Dockerfile').split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['USER node', 'ENTRYPOINT ["node", "bin/baton"]']),
    );
  });

  it('holds no Redis: a container alone runs in one process', () => {
    const lines = read('deploy/docker/Dockerfile').split('\n');
    expect(lines).toContain('CMD ["up", "--broker", "in-process"]');
    expect(lines.filter((line) => /apt-get|redis-server/.test(line))).toEqual([]);
  });

  it('reports its health, within the image and without a Node process', () => {
    const check = read('deploy/docker/Dockerfile').match(/^HEALTHCHECK .*$/m)?.[0] ?? '';
    expect(check).toContain('--start-period=60s');
    expect(check).toMatch(/ CMD \["bin\/healthy"\]$/);
  });

  it('keeps npm’s downloads and development packages out of the image', () => {
    const [build = '', image = ''] = read('deploy/docker/Dockerfile').split('FROM node:24-slim\n');
    for (const line of build.match(/^RUN .*npm (ci|install).*$/gm) ?? []) {
      expect(line).toMatch(
        /^RUN --mount=type=cache,target=(\/var\/cache\/npm) npm \w+ --cache \1 .*--omit=dev/,
      );
    }
    expect(image).toContain('COPY --from=packages /app/node_modules ./node_modules\n');
    expect(image).not.toMatch(/npm (ci|install)/);
  });

  it('copies only files of the repository', () => {
    const sources = read('deploy/docker/Dockerfile')
      .split('\n')
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
  });
});
