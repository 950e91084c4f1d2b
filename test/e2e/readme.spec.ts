import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { benchOutput } from '../support/bench-output';
import { freePort } from '../support/cluster';
import { comparableLines, quotedLines } from '../support/quoted-output';
import { waitUntil } from '../support/wait';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const run = promisify(execFile);

/** Contents of the fenced blocks of a language. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text]) => text ?? '',
  );
}

function commands(start: string): string[] {
  return blocks('sh')
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => line.startsWith(start))
    .map((line) => line.replace(/\s+#.*$/, ''));
}

/**
 * Runs the command of a README line on a free port and calls `use` when it is ready. Then ends it
 * by SIGTERM, as a service manager does.
 */
async function whileUp(
  line: string,
  use: (port: number, enginesPort: number) => Promise<void>,
): Promise<void> {
  const [port, enginesPort] = [await freePort(), await freePort(4)];
  const exposed = line.includes('--expose-engines') ? ` --expose-engines-port ${enginesPort}` : '';
  const isNpm = line.startsWith('npm');
  const shell = `${line}${isNpm ? ' --' : ''} --port ${port}${exposed}`;
  const up = spawn('bash', ['-c', `exec ${shell}`], {
    cwd: ROOT,
    stdio: 'ignore',
    env: withoutRedis(),
  });
  const gone = once(up, 'exit');
  const isReady = async (): Promise<boolean> => {
    expect(up.exitCode, `"${shell}" has ended`).toBe(null);
    return fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  };
  try {
    await waitUntil(isReady, { what: `"${shell}" is ready` });
    await use(port, enginesPort);
  } finally {
    up.kill('SIGTERM');
    await gone;
    const isGone = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/ping`).then(
        () => false,
        () => true,
      );
    await waitUntil(isGone, { what: `nothing of "${shell}" answers any more` });
  }
}

function withoutRedis(): NodeJS.ProcessEnv {
  return { ...process.env, REDIS_URL: '' };
}

describe('the README', () => {
  it('starts with npm start, and its curl and its client example stream an answer', async () => {
    await whileUp('npm start', async (port) => {
      const [curl] = commands('curl');
      const { stdout } = await run('bash', ['-c', (curl ?? '').replace('8000', String(port))]);
      expect(stdout).toMatch(/"delta":\{"content":"[^"]+"\}/);
      expect(stdout.trimEnd()).toMatch(/data: \[DONE\]$/);
      expect(await clientExample(port)).not.toBe('');
    });
  });

  const clusters = commands('bin/baton up').filter((line) => !line.includes('--role'));
  const executing = clusters.filter((line) => line.includes('--executor'));

  it.each(clusters.filter((line) => !executing.includes(line)))(
    'starts a cluster with %s',
    async (line) => {
      await whileUp(line, async (port) => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/models`);
        expect(answer.status).toBe(200);
      });
    },
  );

  it.each(executing)('puts a cluster in front of servers with %s', async (line) => {
    await whileUp('bin/baton up 1P1D --dialect vllm --expose-engines', async (_port, first) => {
      const found = line.replace(/:810(\d)/g, (_all, nth: string) => `:${first + Number(nth)}`);
      await whileUp(found, async (port) => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
          ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
          body: '{"prompt": "pass it on", "max_tokens": 4}',
        });
        expect(answer.status).toBe(200);
      });
    });
  });

  it.each(commands('bin/baton calibrate'))('calibrates a cluster with %s', async (line) => {
    await whileUp('bin/baton up 1P1D', async (port) => {
      const shell = `${line} --base-url http://127.0.0.1:${port}`;
      const { stdout } = await run('bash', ['-c', shell], { cwd: ROOT });
      expect(stdout).toContain('A load outside of the fit: ');
    });
  });

  const virtual = [...commands('bin/baton replay'), ...commands('bin/baton plan')];

  it('has the first replay and the plan whose output other pages quote', () => {
    expect(virtual.filter((line) => quotedLines(line).length > 0).length).toBeGreaterThan(1);
  });

  it.each(virtual)(
    'answers %s on the virtual clock, without a warning and as the pages quote it',
    async (line) => {
      const cwd = await mkdtemp(join(tmpdir(), 'baton-readme-'));
      try {
        const absolute = line
          .replace('bin/baton', join(ROOT, 'bin', 'baton'))
          .replace(' examples/', ` ${join(ROOT, 'examples')}/`);
        // One thread: the result is that of several, for less CPU time.
        const single = line.startsWith('bin/baton plan') ? ' --threads 1' : '';
        const { stdout, stderr } = await run('bash', ['-c', `${absolute}${single}`], { cwd });
        expect(stdout.trim()).not.toBe('');
        expect(`${stdout}${stderr}`).not.toMatch(/warning|too short|may miss:/);
        expect(comparableLines(stdout)).toEqual(expect.arrayContaining(quotedLines(line)));
      } finally {
        await rm(cwd, { recursive: true });
      }
    },
  );

  it.each(commands('bin/baton bench'))('measures a cluster with %s', async (line) => {
    await whileUp('bin/baton up 1P1D', async (port) => {
      const shell = `${line} --base-url http://127.0.0.1:${port}`;
      const stdout = await benchOutput(['bash', '-c', shell], { cwd: ROOT });
      expect(stdout).toMatch(/Successful requests:\s+100\n/);
    });
  });

  it('names a command that shows the environment', async () => {
    const [doctor] = commands('bin/baton doctor');
    const { stdout } = await run('bash', ['-c', doctor ?? ''], { cwd: ROOT });
    expect(stdout).toMatch(/redis/i);
  });
});

/** Runs the README's JavaScript, with only the port replaced, and returns its output. */
async function clientExample(port: number): Promise<string> {
  const file = join(ROOT, `readme-example-${port}.mjs`);
  await writeFile(file, (blocks('js')[0] ?? '').replace('8000', String(port)));
  try {
    return (await run(process.execPath, [file], { cwd: ROOT })).stdout;
  } finally {
    await rm(file);
  }
}
