import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BATON = join(ROOT, 'bin', 'baton');
/** Id of a user without rights. Permission checks do not apply to processes of root. */
const NOBODY = 65_534;
const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { node: '18.20.4' } });\n`;

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly asOrdinaryUser?: boolean;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-bad-'));
  chmodSync(folder, 0o755);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const CHECK_REDIS = 'Check that it runs and accepts connections, and that --redis';

describe('baton up', () => {
  it('names the port that is taken, and starts nothing', async () => {
    const squatter = await listening(() => undefined);
    const outcome = await baton(['up', '1P1D', '--port', String(squatter.port)]);
    squatter.server.close();
    expectSentence(outcome, `port ${squatter.port} on 127.0.0.1 is already taken; choose another`);
  });

  it.each([
    ['requires a password', '-NOAUTH Authentication required.\r\n'],
    ['is full', '-ERR max number of clients reached\r\n'],
    ['never answers', ''],
    [
      'speaks HTTP',
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      'is not a Redis: another server answers there.',
    ],
  ])('quotes the error of a Redis that %s', async (_what, reply, sentence = CHECK_REDIS) => {
    const redis = await listening((write) => write(reply));
    const url = `redis://:secret@127.0.0.1:${redis.port}`;
    const outcome = await baton(['up', '1P1D', '--port', '0', '--redis', url]);
    redis.server.close();
    expectSentence(outcome, sentence);
    expect(outcome.stderr).not.toContain('secret');
  });

  it('reports a Redis that does not answer', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    expectSentence(await baton(['up', '--port', '0'], { env: { REDIS_URL: url } }), 'ECONNREFUSED');
  });

  it('names a cache folder that is not usable', async () => {
    program('apt-get', 'exit 1');
    program('dpkg', 'exit 1');
    writeFileSync(join(folder, 'cache'), '');
    const env = { PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') };
    const { code, stderr } = await baton(['up', '1P1D', '--port', '0'], { env });
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/baton: redis-server cannot be unpacked .* \(ENOTDIR\): name a folder/);
  });

  it('refuses a separate role with an in-process broker', async () => {
    const args = ['up', '--role', 'decode', '--redis', 'redis://x', '--broker', 'in-process'];
    expectSentence(await baton(args), 'Remove --role', 2);
  });

  it('refuses an old Node', async () => {
    const outcome = await node([...oldNode(), BATON, 'up']);
    expectSentence(outcome, 'Baton needs Node 20.19 or newer, and this is 18.20.4: install');
  });
});

describe('the guide', () => {
  it('is not built for a port that is taken', async () => {
    const squatter = await listening(() => undefined);
    const outcome = await baton(['docs', '--build', '--port', String(squatter.port)]);
    squatter.server.close();
    expectSentence(outcome, `port ${squatter.port} on 127.0.0.1 is already taken; choose another`);
  });

  it('is not built when its generator cannot be installed', async () => {
    const site = ['build.mjs', 'guide.mjs'].map((name) => join('packages', 'docs-site', name));
    for (const path of [...site, join('scripts', 'failed-command.mjs')]) {
      cpSync(join(ROOT, path), join(folder, 'tree', path));
    }
    program('npm', `echo 'npm error code EAI_AGAIN' >&2; exit 1`);
    const script = join(folder, 'tree', 'packages', 'docs-site', 'build.mjs');
    const { code, stdout, stderr } = await node([script], {
      env: { PATH: join(folder, 'bin') },
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^docs:site: installing VitePress .*\n$/);
    expect(stderr).toMatch(/^docs:site: the guide is not built: npm does not reach .*\n$/);
  });
});

describe('results on a full disk', () => {
  it('end the command with one sentence', async () => {
    const outcome = await run('sh', [
      ...['-c', '"$@" >/dev/full', 'sh', process.execPath, BATON, 'replay'],
      ...['--dataset', 'random', '--num-prompts', '3', '--request-rate', '9', '--json'],
    ]);
    expectSentence(outcome, 'The output cannot be written (ENOSPC');
  });
});

describe('a source tree without its packages', () => {
  it('stays unchanged under an old Node', async () => {
    copyTree();
    const outcome = await prepare({}, oldNode());
    expectSentence(outcome, 'Baton needs Node 20.19 or newer');
  });

  it.each([
    ['npm error code ENOSPC', 'is full: free 1 GB'],
    ['npm error code EAI_AGAIN', 'npm does not reach its registry: check the network'],
    ['npm error code E401', 'refuses the request: check its credentials'],
    ['npm error code EUSAGE', 'does not fit package.json'],
    ['npm error code EROFS', 'cannot be written: correct its owner'],
  ])('explains %j', async (said, sentence) => {
    copyTree();
    program('npm', `echo '${said}' >&2; exit 1`);
    const outcome = await prepare({ env: { PATH: join(folder, 'bin') } });
    expectSentence(outcome, sentence, 1, ['Installing dependencies (once, about a minute) ...']);
  });

  it('reports that npm is missing', async () => {
    copyTree();
    const outcome = await prepare({ env: { PATH: join(folder, 'empty') } });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('npm is not on the PATH');
  });

  it('reports that the registry is unreachable', async () => {
    needsOnePackage(copyTree());
    const env = {
      npm_config_registry: `http://127.0.0.1:${await freePort()}`,
      npm_config_cache: join(folder, 'npm'),
      npm_config_fetch_retries: '0',
    };
    const outcome = await prepare({ env });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/not installed: npm does not reach its registry: .*\n$/);
    expect(outcome.stderr.trim().split('\n')).toHaveLength(2);
  });

  it('reports that it is not writable', async () => {
    const tree = copyTree();
    chmodSync(tree, 0o555);
    const outcome = await prepare({ asOrdinaryUser: true });
    chmodSync(tree, 0o755);
    expectSentence(outcome, `${tree} cannot be written (EACCES): run`);
  });
});

describe('a built tree', () => {
  it('loses the compiled files whose source is gone, but not the guide', async () => {
    const tree = copyTree();
    cpSync(join(ROOT, '.swcrc'), join(tree, '.swcrc'));
    mkdirSync(join(tree, 'node_modules'));
    cpSync(join(tree, 'package-lock.json'), join(tree, 'node_modules', '.package-lock.json'));
    const [page, orphan] = ['site/assets/page.js', 'libs/kernel/src/gone.js'];
    for (const name of ['apps/ui/index.html', 'bundles/commands.js', page, orphan, '.built']) {
      mkdirSync(dirname(join(tree, 'dist', name)), { recursive: true });
      writeFileSync(join(tree, 'dist', name), '');
    }
    program('npm', 'exit 0');
    const env = { PATH: join(folder, 'bin') };
    expect(await prepare({ env })).toMatchObject({ code: 0, stderr: 'Building ...\n' });
    expect(existsSync(join(tree, 'dist', orphan))).toBe(false);
    expect(existsSync(join(tree, 'dist', page))).toBe(true);
    expect(await prepare({ env })).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Expects one sentence on stderr after the announcements, and nothing on stdout. */
function expectSentence(
  { code, stdout, stderr }: Outcome,
  sentence: string,
  exitCode = 1,
  announced: readonly string[] = [],
): void {
  expect([code, stdout]).toEqual([exitCode, '']);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.slice(0, -1)).toEqual(announced);
  expect(lines.at(-1)).toContain(sentence);
}

/** Copies the files that `npm start` needs before any package is installed. */
function copyTree(): string {
  const tree = join(folder, 'tree');
  for (const name of ['scripts', 'bin', 'package.json', 'package-lock.json', '.npmrc']) {
    cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  }
  return tree;
}

/** npm asks its registry for one package, not for hundreds. */
function needsOnePackage(tree: string): void {
  const read = <T>(name: string): T => JSON.parse(readFileSync(join(tree, name), 'utf8')) as T;
  const own = read<object>('package.json');
  const lock = read<{ packages: Record<string, object> }>('package-lock.json');
  const needs = { dependencies: { commander: '14.0.3' }, devDependencies: {} };
  const name = 'node_modules/commander';
  const packages = { '': { ...lock.packages[''], ...needs }, [name]: lock.packages[name] };
  writeFileSync(join(tree, 'package.json'), JSON.stringify({ ...own, ...needs }));
  writeFileSync(join(tree, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
}

function prepare(surroundings: Surroundings, nodeArgs: readonly string[] = []): Promise<Outcome> {
  const script = join(folder, 'tree', 'scripts', 'prepare.mjs');
  return node([...nodeArgs, script], surroundings);
}

/** Arguments that make Node report an old version. */
function oldNode(): string[] {
  const path = join(folder, 'old-node.cjs');
  writeFileSync(path, OLD_NODE);
  return ['--require', path];
}

function program(name: string, body: string): void {
  const path = join(folder, 'bin', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

function baton(args: readonly string[], surroundings?: Surroundings): Promise<Outcome> {
  return node([BATON, ...args], surroundings);
}

function node(args: readonly string[], surroundings?: Surroundings): Promise<Outcome> {
  return run(process.execPath, args, surroundings);
}

/** Runs a program to its end and until all its children have closed their output. */
async function run(
  command: string,
  args: readonly string[],
  { env = {}, asOrdinaryUser = false }: Surroundings = {},
): Promise<Outcome> {
  const isRoot = process.getuid?.() === 0;
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, REDIS_URL: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(asOrdinaryUser && isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const [stdout, stderr] = [collected(child, 'stdout'), collected(child, 'stderr')];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

function collected(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[name]?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

/** A server that sends one text to each connection. */
async function listening(
  greet: (write: (text: string) => void) => void,
): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    greet((text) => socket.write(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}
