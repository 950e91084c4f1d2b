import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';
import { isAlive, processesBelow, untilGone } from '../support/processes';
import { RoleProcess } from '../support/role-process';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const run = promisify(execFile);

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function baton(...args: string[]): Promise<Outcome> {
  const env = { ...process.env, REDIS_URL: '' };
  return run(process.execPath, [BATON, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

describe('baton up', () => {
  it.each([
    [['up', '2X3'], /topology/i],
    [['up', '2P'], /decode/i],
    [['up', '2P2D', '--modle', 'x'], /--model/],
    [['up', '2P2D', '--model', 'llama-9'], /Nearest known: llama-/],
    [['up', '2P2D', '--gpu', 'h1000'], /h100/],
    [['up', '2P2D', '--port', 'eighty'], /port/],
  ])('refuses %j with exit code 2 and one hint', async (args, hint) => {
    const outcome = await baton(...args);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(hint);
    expect(outcome.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  });

  it('refuses a taken port before it starts anything', async () => {
    const squatter = createServer();
    const port = await freePort();
    squatter.listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    const outcome = await baton('up', '1P1D', '--port', String(port));
    squatter.close();
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain(String(port));
  });

  it('refuses an unreachable Redis with one sentence', async () => {
    const port = await freePort();
    const outcome = await baton('up', '1P1D', '--redis', `redis://127.0.0.1:${port}`);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/redis/i);
  });

  it('finds a broker, names it, and leaves no process behind on Ctrl-C', async () => {
    const port = await freePort();
    const args = ['up', '1P1D', '--port', String(port), ...PLAIN_STEPS];
    const up = spawn(process.execPath, [BATON, ...args], {
      env: { ...process.env, REDIS_URL: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let log = '';
    up.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
    up.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const answers = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        (answer) => answer.ok,
        () => false,
      );
    await waitUntil(answers, { what: 'it is ready' });
    const children = await processesBelow(up.pid ?? 0);
    expect(children.length).toBeGreaterThanOrEqual(4);
    const gone = once(up, 'exit');
    process.kill(up.pid ?? 0, 'SIGINT');
    expect((await gone)[0]).toBe(0);
    await untilGone(children);
    expect(children.filter(isAlive)).toEqual([]);
    expect(log).toMatch(/broker/i);
  });
});

describe('a running cluster', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await TestCluster.start({ topology: '1P1D', flags: PLAIN_STEPS });
  });

  afterAll(() => cluster.stop());

  it('restarts a crashed worker', async () => {
    const [pid] = await cluster.pidsOf('decode');
    process.kill(pid ?? 0, 'SIGKILL');
    const replaced = async (): Promise<boolean> => {
      const pids = await cluster.pidsOf('decode');
      return pids.length === 1 && pids[0] !== pid;
    };
    await waitUntil(replaced, { what: 'another decode worker is there' });
    const answer = await stream(`${cluster.baseUrl}/v1/completions`, {
      prompt: 'x',
      max_tokens: 3,
    });
    expect(answer.endedWithDone).toBe(true);
  });

  it('lets a decode worker join and leave under load', async () => {
    const url = `${cluster.baseUrl}/v1/completions`;
    const load = (): Promise<StreamedAnswer[]> =>
      Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          stream(url, { prompt: `joining ${i}`, max_tokens: 200, ignore_eos: true }),
        ),
      );
    const before = load();
    const joined = await RoleProcess.worker(cluster, 'decode', PLAIN_STEPS);
    expect(await cluster.pidsOf('decode')).toHaveLength(2);
    const during = load();
    const run = async (): Promise<boolean> => (await cluster.sumOf('running')) > 0;
    await waitUntil(run, { what: 'requests run', during });
    const gone = joined.stop();
    const answers = [...(await before), ...(await during)];
    await gone;
    expect(answers.filter((answer) => answer.error !== undefined)).toEqual([]);
    await cluster.untilAtRest();
  });
});

describe('baton doctor', () => {
  it('prints what is installed and which broker a cluster gets', async () => {
    const outcome = await baton('doctor');
    expect(outcome.code).toBe(0);
    expect(outcome.stdout).toMatch(/node/i);
    expect(outcome.stdout).toMatch(/redis/i);
  });

  it('prints the same facts as one JSON document', async () => {
    const { stdout } = await baton('doctor', '--json');
    const { installed, used, known } = JSON.parse(stdout) as Record<string, object>;
    expect(installed).toMatchObject({ node: process.version });
    expect(used).toMatchObject({ topology: '2P2D' });
    expect(known).toMatchObject({ gpus: expect.arrayContaining(['h100']) as unknown });
  });
});
