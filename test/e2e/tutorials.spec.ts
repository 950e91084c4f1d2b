import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port';
import { asPrinted, linesOf, readTutorial, type Step } from '../support/tutorial';
import { waitUntil } from '../support/wait';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TUTORIALS = join(ROOT, 'docs', 'tutorials');
const PAGES = readdirSync(TUTORIALS).sort();
/** On the cluster of the page; exit code 3 says only that this machine sent the load late. */
const MEASURE = 'bin/baton bench --base-url http://127.0.0.1:8000 $1 || [ $? = 3 ]';
const run = promisify(execFile);
/** What the commands find in a checkout. */
const CHECKOUT = ['bin', 'examples', 'node_modules', 'package.json'];
/** The reader waits until a page of metrics shows what has just happened. */
const READS_METRICS = /^curl \S+ [^\n]*\/metrics [^\n]*$/;

function tutorial(page: string): ReturnType<typeof readTutorial> {
  return readTutorial(readFileSync(join(TUTORIALS, page), 'utf8'));
}

/** A reader of a page: a folder like a checkout, and the cluster that the page starts. */
class Reader {
  private cluster: ChildProcess | undefined;
  private log = '';
  private script = '';
  private printed = '';
  private isUnread = false;

  private constructor(
    private readonly folder: string,
    /** Free ports in place of those of the page. */
    private readonly ports: ReadonlyMap<string, string>,
  ) {}

  static async open(): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), 'baton-tutorial-'));
    for (const name of CHECKOUT) await symlink(join(ROOT, name), join(folder, name));
    await mkdir(join(folder, 'programs'));
    await symlink(join(ROOT, 'test/support/curl.mjs'), join(folder, 'programs', 'curl'));
    const [api, engines] = [await freePort(), await freePort(4)];
    const ports = [0, 1, 2, 3].map((nth) => [`${8100 + nth}`, `${engines + nth}`] as const);
    return new Reader(folder, new Map([['8000', `${api}`], ...ports]));
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true });
  }

  async follow(step: Step): Promise<void> {
    switch (step.kind) {
      case 'save': {
        const path = join(this.folder, step.path);
        await mkdir(join(path, '..'), { recursive: true });
        await writeFile(path, this.withPorts(step.text));
        return;
      }
      case 'run':
        this.script = step.script;
        this.printed = await this.run(step.script);
        this.isUnread = true;
        return;
      case 'output':
        await this.compare(step);
        this.isUnread = false;
        return;
      case 'stop':
        await this.stop();
    }
  }

  /** A second block of output after a command quotes the log of the cluster. */
  private async compare({ lines, varies }: Step & { kind: 'output' }): Promise<void> {
    const asQuoted = (): string[] =>
      asPrinted(lines, linesOf(this.withoutPorts(this.printed), varies));
    const isLog = !this.isUnread;
    if (isLog || READS_METRICS.test(this.script.trim())) {
      const hasCome = async (): Promise<boolean> => {
        this.printed = isLog ? this.log : await this.run(this.script);
        return asQuoted().join('\n') === lines.join('\n');
      };
      await waitUntil(hasCome, { what: 'it is printed', deadlineMs: 10_000 }).catch(() => false);
    }
    expect(asQuoted()).toEqual(lines);
  }

  /** Runs the lines in order; one that starts a cluster goes on beside the others. */
  private async run(script: string): Promise<string> {
    const [others, ups] = partition(script.split('\n'), (line) => /^bin\/baton up /.test(line));
    for (const up of ups) await this.start(up);
    const rest = others.join('\n').trim();
    return rest === '' ? '' : this.output(rest);
  }

  private async output(script: string): Promise<string> {
    const shell = script.replaceAll(/^bin\/baton bench (.*)/gm, MEASURE);
    const flags = ['-e', '-o', 'pipefail', '-c', this.withPorts(shell)];
    const options = { cwd: this.folder, env: this.environment(), maxBuffer: 2 ** 26 };
    return (await run('bash', flags, options)).stdout;
  }

  private async start(line: string): Promise<void> {
    await this.stop();
    const flags = line.includes('--port') ? '' : ' --port 8000';
    const engines = line.includes('--expose-engines') ? ' --expose-engines-port 8100' : '';
    const shell = this.withPorts(`exec ${line}${flags}${engines}`);
    const up = spawn('bash', ['-c', shell], { cwd: this.folder, env: this.environment() });
    this.cluster = up;
    this.log = '';
    for (const stream of [up.stdout, up.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    }
    const isReady = (): boolean => {
      expect(up.exitCode, this.log).toBe(null);
      return /^Ready in /m.test(this.log);
    };
    await waitUntil(isReady, { what: `"${line}" is ready` });
  }

  private async stop(): Promise<void> {
    const { cluster } = this;
    this.cluster = undefined;
    if (cluster?.exitCode !== null) return;
    const gone = once(cluster, 'exit');
    cluster.kill('SIGINT');
    await gone;
  }

  private environment(): NodeJS.ProcessEnv {
    const path = [join(this.folder, 'programs'), process.env['PATH']].join(delimiter);
    return { ...process.env, PATH: path, REDIS_URL: '' };
  }

  private withPorts(text: string): string {
    return text.replaceAll(/\b(8000|810[0-3])\b/g, (port) => this.ports.get(port) ?? port);
  }

  private withoutPorts(text: string): string {
    return [...this.ports].reduce((all, [ofPage, ours]) => all.replaceAll(ours, ofPage), text);
  }
}

function partition<T>(all: readonly T[], isSecond: (one: T) => boolean): [T[], T[]] {
  return [all.filter((one) => !isSecond(one)), all.filter(isSecond)];
}

describe.each(PAGES)('the tutorial %s', (page) => {
  let reader: Reader;

  beforeAll(async () => {
    reader = await Reader.open();
  });

  afterAll(() => reader.close());

  it('has commands that run, and prints what it quotes', async () => {
    for (const step of tutorial(page).steps) await reader.follow(step);
  });
});

describe('the tutorials', () => {
  it('leave out only commands that need a tool that the suite does not install', () => {
    const needs = Object.fromEntries(
      PAGES.map((page) => [page, [...tutorial(page).needs]] as const).filter(
        ([, tools]) => tools.length > 0,
      ),
    );
    expect(needs).toEqual({
      'kubernetes.md': ['Docker', 'a Kubernetes cluster'],
      'monitor.md': ['Docker'],
      'your-own-client.md': ['vLLM', 'Python'],
    });
  });
});
