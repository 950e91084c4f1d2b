import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port';
import { CommandProcess } from '../support/command-process';
import { waitUntil } from '../support/wait';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROLES = ['api', 'prefill', 'decode'] as const;

interface Service {
  readonly command?: readonly string[] | string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

/**
 * The services as compose reads the file with no variable set. Names and ports of this machine
 * replace those of its network.
 */
function composeServices(here: Readonly<Record<string, string>>): Record<string, Service> {
  let text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  text = text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
  for (const [there, local] of Object.entries(here)) text = text.replaceAll(there, local);
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
}

/** Splits a string as a shell does. A list stays as it is. */
function wordsOf(command: Service['command']): string[] {
  if (typeof command !== 'string') return [...(command ?? [])];
  return (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'));
}

function environmentOf({ environment = {} }: Service): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, String(text)]));
}

async function runToEnd(command: readonly string[]): Promise<number | string> {
  return CommandProcess.start(command).ended;
}

/** Runs `CMD` and its arguments of the health check. True when it succeeds. */
async function isHealthy({ healthcheck }: Service): Promise<boolean> {
  const [kind, ...command] = healthcheck?.test ?? [];
  expect(kind).toBe('CMD');
  return (await runToEnd(command)) === 0;
}

describe('every command of docker-compose.yml, outside of a container', () => {
  const running: CommandProcess[] = [];
  let services: Record<string, Service>;
  let worker: Record<string, Service>;
  let ports: { redis: number; api: number };

  const service = (name: string): Service => services[name] as Service;

  beforeAll(async () => {
    const first = await freePort(4);
    ports = { redis: first, api: first + 1 };
    const here = (workerPort: number): Record<string, string> => ({
      'redis://:@redis:6379': `redis://127.0.0.1:${ports.redis}`,
      'http://127.0.0.1:8000': `http://127.0.0.1:${ports.api}`,
      'http://api:8000': `http://127.0.0.1:${ports.api}`,
      'http://127.0.0.1:9100': `http://127.0.0.1:${workerPort}`,
      'BATON_WORKER_PORT: 9100': `BATON_WORKER_PORT: ${workerPort}`,
    });
    services = composeServices(here(first + 2));
    worker = {
      prefill: composeServices(here(first + 2))['prefill'] as Service,
      decode: composeServices(here(first + 3))['decode'] as Service,
    };
    const redis = [...wordsOf(service('redis').command), '--port', String(ports.redis)];
    running.push(CommandProcess.start(redis, { cwd: tmpdir() }));
    const isUp = async (): Promise<boolean> =>
      (await runToEnd(['redis-cli', '-p', String(ports.redis), 'ping'])) === 0;
    await waitUntil(isUp, { what: 'redis passes its health check' });
    for (const role of ROLES) {
      const { [role]: own = service(role) } = worker;
      const command = [process.execPath, 'bin/baton', ...wordsOf(own.command)];
      // The port that the container has to itself.
      const env = { ...environmentOf(own), ...(role === 'api' && { BATON_PORT: `${ports.api}` }) };
      running.push(CommandProcess.start(command, { env }));
    }
  });

  afterAll(async () => {
    for (const process of running.reverse()) await process.stop();
  });

  it.each(ROLES)('starts %s, which passes its health check', async (role) => {
    const own = worker[role] ?? service(role);
    await waitUntil(() => isHealthy(own), { what: `${role} is healthy` });
  });

  it('loads the cluster, without an error', async () => {
    const command = wordsOf(service('loadgen').command).map((word) =>
      word.replace(/^(--num-prompts=).*/, '$120').replace(/^(--request-rate=).*/, '$120'),
    );
    const bench = CommandProcess.start([process.execPath, 'bin/baton', ...command]);
    // Exit code 3: this machine was late. Lateness is not under test here.
    expect([0, 3], bench.log).toContain(await bench.ended);
    const metrics = await (await fetch(`http://127.0.0.1:${ports.api}/metrics`)).text();
    const lengths = [...metrics.matchAll(/^vllm:request_success_total.*"length".* (\d+)$/gm)];
    expect(lengths.reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThanOrEqual(20);
  });
});

describe('every command of the Dockerfile, outside of a container', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-image-'));
  const [build, image] = [join(folder, 'build'), join(folder, 'image')];
  const lines = readFileSync(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8').split('\n');

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The paths that earlier stages copy, and the instructions of the last stage. */
  const lastStage = lines.findLastIndex((line) => line.startsWith('FROM '));
  const stages = { build: lines.slice(0, lastStage), image: lines.slice(lastStage) };

  function copy(stage: keyof typeof stages): void {
    for (const line of stages[stage].filter((each) => each.startsWith('COPY '))) {
      const from = line.includes('--from=build') ? build : ROOT;
      const words = line.split(' ').filter((word) => !/^(COPY|--from=.*)$/.test(word));
      for (const word of words.slice(0, -1)) {
        const path = word.replace(/^\/app\//, '');
        if (path === 'node_modules') continue;
        const to = join(folder, stage, path);
        mkdirSync(dirname(to), { recursive: true });
        cpSync(join(from, path), to, { recursive: true });
      }
    }
  }

  /** Links the packages that `npm ci --omit=dev` leaves. Installs and removes nothing. */
  function linkProductionPackages(): void {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; optional?: boolean }>;
    };
    for (const [path, { dev, optional }] of Object.entries(packages)) {
      if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev || optional) continue;
      mkdirSync(dirname(join(image, path)), { recursive: true });
      symlinkSync(join(ROOT, path), join(image, path));
    }
  }

  it('builds from the files of the first stage, and runs on those of the second', async () => {
    expect(lines).toContain('RUN npm run build');
    mkdirSync(build);
    copy('build');
    symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
    const built = CommandProcess.start(['npm', 'run', 'build'], { cwd: build });
    expect(await built.ended, built.log).toBe(0);
    copy('image');
    linkProductionPackages();
    const entry = argumentsOf('ENTRYPOINT');
    const port = await freePort();
    const env = { BATON_HOST: '0.0.0.0', BATON_PORT: `${port}`, NODE_ENV: 'production' };
    const up = CommandProcess.start([...entry, ...argumentsOf('CMD')], { cwd: image, env });
    const isUp = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitUntil(isUp, { what: 'the image serves' }).catch(async (error: unknown) => {
      await up.stop();
      throw new Error(`${String(error)}\n${up.log}`);
    });
    const page = await fetch(`http://127.0.0.1:${port}/ui/`);
    await up.stop();
    expect(page.status).toBe(200);
  });

  function argumentsOf(instruction: string): string[] {
    const line = lines.find((each) => each.startsWith(`${instruction} `)) ?? '';
    return JSON.parse(line.slice(instruction.length)) as string[];
  }
});
