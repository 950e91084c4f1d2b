import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { benchOutput } from '../support/bench-output';
import { freePort } from '../support/free-port';
import { comparableLines, quotedLines } from '../support/quoted-output';
import { waitUntil } from '../support/wait';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The README, and the page of the guide that goes on with its commands. */
const PAGES = ['README.md', 'docs/tour.md'].map((page) => readFileSync(join(ROOT, page), 'utf8'));
const CURL = join(ROOT, 'test/support/curl.mjs');
const run = promisify(execFile);

/** Contents of the fenced blocks of a language. */
function blocks(language: string): string[] {
  return [
    ...PAGES.join('\n').matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm')),
  ].map(([, text]) => text ?? '');
}

function commands(start: string): string[] {
  return blocks('sh')
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => line.startsWith(start))
    .map((line) => line.replace(/\s+#.*$/, ''));
}

/** The command of a README line, which starts a cluster, on free ports. */
class Running {
  private constructor(
    private readonly shell: string,
    private readonly up: ChildProcess,
    readonly port: number,
    /** Port of the first engine, of a cluster that exposes its engines. */
    readonly enginesPort: number,
  ) {}

  /** Resolves when it is ready. */
  static async start(line: string): Promise<Running> {
    const [port, enginesPort] = [await freePort(), await freePort(4)];
    const exposed = line.includes('--expose-engines')
      ? ` --expose-engines-port ${enginesPort}`
      : '';
    const isNpm = line.startsWith('npm');
    const shell = `${line}${isNpm ? ' --' : ''} --port ${port}${exposed}`;
    const options = { cwd: ROOT, stdio: 'ignore', env: withoutRedis() } as const;
    const running = new Running(
      shell,
      spawn('bash', ['-c', `exec ${shell}`], options),
      port,
      enginesPort,
    );
    await running.untilReady().catch(async (error: unknown) => {
      await running.stop();
      throw error;
    });
    return running;
  }

  /** Ends it by SIGTERM, as a service manager does. */
  async stop(): Promise<void> {
    const gone = this.up.exitCode === null ? once(this.up, 'exit') : undefined;
    this.up.kill('SIGTERM');
    await gone;
    const isGone = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${this.port}/ping`).then(
        () => false,
        () => true,
      );
    await waitUntil(isGone, { what: `nothing of "${this.shell}" answers any more` });
  }

  private untilReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      expect(this.up.exitCode, `"${this.shell}" has ended`).toBe(null);
      return fetch(`http://127.0.0.1:${this.port}/health/ready`).then(
        (answer) => answer.ok,
        () => false,
      );
    };
    return waitUntil(isReady, { what: `"${this.shell}" is ready` });
  }
}

async function whileUp(line: string, use: (cluster: Running) => Promise<void>): Promise<void> {
  const cluster = await Running.start(line);
  try {
    await use(cluster);
  } finally {
    await cluster.stop();
  }
}

function withoutRedis(): NodeJS.ProcessEnv {
  return { ...process.env, REDIS_URL: '' };
}

describe('the README and the tour of the commands', () => {
  it('starts with npm start, and its curl and its client example stream an answer', async () => {
    await whileUp('npm start', async ({ port }) => {
      const [curl = ''] = commands('curl');
      const shell = curl.replace('curl', CURL).replace('8000', String(port));
      const { stdout: text } = await run('bash', ['-c', shell]);
      expect(text).toMatch(/"delta":\{"content":"[^"]+"\}/);
      expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
      expect(await clientExample(port)).not.toBe('');
    });
  });

  const clusters = commands('bin/baton up').filter((line) => !line.includes('--role'));
  const executing = clusters.filter((line) => line.includes('--executor'));
  const [exposing = ''] = clusters.filter((line) => line.includes('--expose-engines'));
  const others = clusters.filter((line) => line !== exposing && !executing.includes(line));

  async function expectModels({ port }: Running): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models`);
    expect(answer.status).toBe(200);
  }

  it.each(others)('starts a cluster with %s', async (line) => {
    await whileUp(line, expectModels);
  });

  it.each(executing)(`starts a cluster with ${exposing}, and puts it behind %s`, async (line) => {
    await whileUp(exposing, async (servers) => {
      await expectModels(servers);
      // Its first two engines are prefill, the next two decode.
      const found = line.replace(/:810(\d)/g, (_all, nth: string) => {
        return `:${servers.enginesPort + 2 * Number(nth)}`;
      });
      await whileUp(found, async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"prompt": "pass it on", "max_tokens": 4}',
        });
        expect(answer.status).toBe(200);
      });
    });
  });

  describe('on a cluster of one prefill and one decode engine', () => {
    let cluster: Running;

    beforeAll(async () => {
      cluster = await Running.start('bin/baton up 1P1D');
    });

    afterAll(() => cluster.stop());

    it.each(commands('bin/baton bench'))('measures it with %s', async (line) => {
      const shell = `${line} --base-url http://127.0.0.1:${cluster.port}`;
      const stdout = await benchOutput(['bash', '-c', shell], { cwd: ROOT });
      expect(stdout).toMatch(/Successful requests:\s+100\n/);
    });

    it.each(commands('bin/baton calibrate'))('calibrates it with %s', async (line) => {
      const shell = `${line} --base-url http://127.0.0.1:${cluster.port}`;
      const { stdout } = await run('bash', ['-c', shell], { cwd: ROOT });
      expect(stdout).toContain('A load outside of the fit: ');
    });
  });

  const virtual = [...commands('bin/baton replay'), ...commands('bin/baton plan')];

  it('has the first replay and the plan whose output other pages quote', () => {
    expect(virtual.filter((line) => quotedLines(line).length > 0).length).toBeGreaterThan(1);
  });

  it.each(virtual)(
    'answers %s on the virtual clock, without a doubt and as the pages quote it',
    async (line) => {
      const cwd = await mkdtemp(join(tmpdir(), 'baton-readme-'));
      try {
        const absolute = line
          .replace('bin/baton', join(ROOT, 'bin', 'baton'))
          .replace(' examples/', ` ${join(ROOT, 'examples')}/`);
        // One thread: the result is that of several, for less CPU time.
        const isPlan = line.startsWith('bin/baton plan');
        const single = isPlan ? ' --threads 1' : '';
        const { stdout, stderr } = await run('bash', ['-c', `${absolute}${single}`], { cwd });
        expect(stdout.trim()).not.toBe('');
        const doubts = /warning|too short|requests may miss|Extrapolated|outside of the measured/;
        expect(`${stdout}${stderr}`).not.toMatch(doubts);
        expect(comparableLines(stdout)).toEqual(expect.arrayContaining(quotedLines(line)));
      } finally {
        await rm(cwd, { recursive: true });
      }
    },
  );

  it('names a command that shows the environment', async () => {
    const [doctor] = commands('bin/baton doctor');
    const { stdout } = await run('bash', ['-c', doctor ?? ''], { cwd: ROOT });
    expect(stdout).toMatch(/redis/i);
  });
});

/** Runs the pages' JavaScript, with only the port replaced, and returns its output. */
async function clientExample(port: number): Promise<string> {
  const file = join(ROOT, `readme-example-${port}.mjs`);
  await writeFile(file, (blocks('js')[0] ?? '').replace('8000', String(port)));
  try {
    return (await run(process.execPath, [file], { cwd: ROOT })).stdout;
  } finally {
    await rm(file);
  }
}
