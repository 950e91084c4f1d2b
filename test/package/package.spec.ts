import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port';
import { CommandProcess } from '../support/command-process';
import { comparableLines, quotedLines } from '../support/quoted-output';
import { waitUntil } from '../support/wait';
import { readJson, ROOT } from '../tidy/repository';

const run = promisify(execFile);
const START = readFileSync(join(ROOT, 'docs', 'start.md'), 'utf8');
const MOST_BYTES = 30e6;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const manifest = readJson('package.json') as Manifest;

/** The shell lines of docs/start.md that begin so. */
function linesOfStart(begin: string): string[] {
  const blocks = [...START.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  return lines.filter((line) => line.startsWith(begin));
}

let folder: string;
let installed: string;
/** Of a user in an empty folder: neither the repository nor npm's own variables are known. */
let surroundings: { cwd: string; env: NodeJS.ProcessEnv };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-package-'));
  const [prefix, home] = ['prefix', 'home'].map((name) => join(folder, name)) as [string, string];
  for (const path of [prefix, home]) mkdirSync(path);
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|BATON_|REDIS_)/i.test(name));
  const PATH = [join(prefix, 'bin'), dirname(process.execPath), process.env['PATH']].join(
    delimiter,
  );
  const env = { ...Object.fromEntries(kept), PATH };
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, env });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  expect(statSync(join(folder, tarball)).size).toBeLessThan(MOST_BYTES);
  const install = ['install', '--global', '--prefix', prefix, '--prefer-offline'];
  await run('npm', [...install, join(folder, tarball)], { cwd: folder, env });
  installed = join(prefix, 'lib', 'node_modules', ...manifest.name.split('/'));
  surroundings = { cwd: home, env: { ...env, HOME: home } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function baton(line: string): Promise<string> {
  const { stdout } = await run('bash', ['-c', line.replace('bin/baton', 'baton')], surroundings);
  return stdout;
}

/** Runs a command that serves, until `use` is done with it. */
async function whileServing(
  args: readonly string[],
  url: string,
  use: () => Promise<void>,
): Promise<void> {
  const command = CommandProcess.start(['baton', ...args], {
    cwd: surroundings.cwd,
    env: { PATH: surroundings.env['PATH']!, HOME: surroundings.cwd, REDIS_URL: '' },
  });
  let hasEnded = false;
  void command.ended.then(() => (hasEnded = true));
  const answers = async (): Promise<boolean> => {
    expect(hasEnded, command.log).toBe(false);
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  try {
    await waitUntil(answers, { what: `baton ${args.join(' ')} answers` });
    await use();
  } finally {
    await command.stop();
  }
}

describe('the package', () => {
  it('holds no source and no test', () => {
    const files = readdirSync(installed, { recursive: true }).map(String);
    const own = files.filter((path) => !path.startsWith('node_modules'));
    expect(own.length).toBeGreaterThan(1000);
    expect(own.filter((path) => /(?<!\.d)\.ts$|\.map$|\.spec\.js$/.test(path))).toEqual([]);
  });

  it('needs the packages that run, in the versions of package.json, and no tool of the build', () => {
    const versionOf = (name: string): string | undefined => {
      const file = join(installed, 'node_modules', name, 'package.json');
      if (!existsSync(file)) return undefined;
      return (JSON.parse(readFileSync(file, 'utf8')) as Manifest).version;
    };
    const names = Object.keys(manifest.dependencies);
    expect(Object.fromEntries(names.map((name) => [name, versionOf(name)]))).toEqual(
      manifest.dependencies,
    );
    const tools = ['typescript', 'typescript-7', '@swc/core', '@nestjs/cli', 'rolldown', 'vite'];
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(tools));
    expect(tools.filter((name) => versionOf(name) !== undefined)).toEqual([]);
  });

  it('prints its version', async () => {
    expect(await baton('baton --version')).toBe(`${manifest.version}\n`);
  });

  it('starts a cluster, which answers the requests of docs/start.md', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await whileServing(['up', '--port', String(port)], `${url}/health/ready`, async () => {
      expect(await (await fetch(`${url}/version`)).json()).toEqual({ version: manifest.version });
      const [curl = ''] = linesOfStart('curl');
      expect(await baton(curl.replace('http://127.0.0.1:8000', url))).toMatch(/data: \[DONE\]\s*$/);
      const page = await fetch(`${url}/ui`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
      const [bench = ''] = linesOfStart('bin/baton bench');
      // A slow machine makes the run void, which is another exit code.
      const table = await baton(`${bench} --base-url ${url} || true`);
      const [, prompts = 'none'] = /--num-prompts (\d+)/.exec(bench) ?? [];
      expect(table).toMatch(new RegExp(`Successful requests: +${prompts}\n`));
    });
  });

  it('replays as docs/start.md prints it, and writes a report', async () => {
    const [replay = ''] = linesOfStart('bin/baton replay');
    const printed = comparableLines(await baton(replay));
    expect(quotedLines(replay).length).toBeGreaterThan(3);
    expect(printed).toEqual(expect.arrayContaining(quotedLines(replay)));
    expect(readdirSync(join(surroundings.cwd, 'out', 'replay'))).toContain('report.html');
  });

  it('plans, on threads', async () => {
    const load = '--trace azure-conv-2023 --limit 200 --gpus 2 --threads 2';
    expect(await baton(`baton plan ${load} --slo ttft=2s`)).toContain('1P1D');
  });

  it('serves the guide, and refuses to build it', async () => {
    const port = await freePort();
    const page = `http://127.0.0.1:${port}/tutorials/gateway`;
    await whileServing(['docs', '--port', String(port)], page, async () => {
      const html = await (await fetch(page)).text();
      const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
      expect((await fetch(new URL(script, page))).status).toBe(200);
    });
    await expect(baton('baton docs --build')).rejects.toThrow('Build the guide in a checkout.');
  });
});
