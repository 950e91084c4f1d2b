import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { stream } from '../support/client';
import { freePort } from '../support/free-port';
import { isAlive, processesBelow, untilGone } from '../support/processes';
import { PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const HANG_ON_SIGNAL = fileURLToPath(new URL('../support/hang-on-signal.cjs', import.meta.url));
const SLOW = ['--step-time', 'constant', '--inter-token-latency', '200'];

let up: ChildProcess | undefined;

afterEach(() => up?.kill('SIGKILL'));

interface Cluster {
  readonly process: ChildProcess;
  readonly url: string;
  /** Its output so far. */
  log(): string;
}

async function start(flags: readonly string[], env: NodeJS.ProcessEnv): Promise<Cluster> {
  const port = await freePort();
  const child = spawn(process.execPath, [BATON, 'up', ...flags, '--port', String(port)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  up = child;
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk: Buffer) => (log += chunk.toString()));
  }
  await waitUntil(() => log.includes('Ready in'), { what: 'it is ready' });
  return { process: child, url: `http://127.0.0.1:${port}/v1/completions`, log: () => log };
}

const withOwnRedis = (): NodeJS.ProcessEnv => ({ ...process.env, REDIS_URL: '' });

describe('the supervisor of a cluster', () => {
  it('leaves no process behind when it is killed', async () => {
    const cluster = await start(['1P1D'], withOwnRedis());
    const children = await processesBelow(cluster.process.pid ?? 0);
    expect(children.length).toBeGreaterThanOrEqual(4);
    cluster.process.kill('SIGKILL');
    await untilGone(children);
  });

  it('also ends processes whose event loop is busy forever', async () => {
    const redis = await PrivateRedis.launch();
    const env = { ...process.env, REDIS_URL: redis.url };
    const cluster = await start(['1P1D'], { ...env, NODE_OPTIONS: `--require ${HANG_ON_SIGNAL}` });
    const children = await processesBelow(cluster.process.pid ?? 0);
    expect(children).toHaveLength(3);
    await waitUntil(async () => (await standbys(redis)) === 3, { what: 'each has its thread' });
    for (const pid of children) process.kill(pid, 'SIGUSR2');
    cluster.process.kill('SIGKILL');
    try {
      await untilGone(children);
    } finally {
      for (const pid of children.filter(isAlive)) process.kill(pid, 'SIGKILL');
      await redis.close();
    }
  });

  it('lets a stream under way end on Ctrl-C, then leaves with exit code 0', async () => {
    const cluster = await start(['1P1D', ...SLOW], withOwnRedis());
    const children = await processesBelow(cluster.process.pid ?? 0);
    const answer = stream(cluster.url, { prompt: 'x', max_tokens: 10, ignore_eos: true });
    const gone = once(cluster.process, 'exit');
    await isStreaming(cluster, answer);
    cluster.process.kill('SIGINT');
    // npm sends the same key press a second time.
    cluster.process.kill('SIGINT');
    expect((await answer).finishReason).toBe('length');
    expect((await gone)[0]).toBe(0);
    await untilGone(children);
  });

  it('stops at once on a second Ctrl-C', async () => {
    const cluster = await start(['1P1D', ...SLOW], withOwnRedis());
    const children = await processesBelow(cluster.process.pid ?? 0);
    const answer = stream(cluster.url, { prompt: 'x', max_tokens: 1_000, ignore_eos: true }).catch(
      () => undefined,
    );
    const gone = once(cluster.process, 'exit');
    await isStreaming(cluster, answer);
    cluster.process.kill('SIGINT');
    // Sends the signal again until one counts as the second: a signal kills a process in its
    // teardown.
    const repeated = setInterval(() => {
      if (!cluster.log().includes('stopping immediately')) cluster.process.kill('SIGINT');
    }, 100);
    await untilGone(children).finally(() => clearInterval(repeated));
    expect((await gone)[0]).toBe(1);
    await answer;
  });

  it.each(['a full disk', 'a closed pipe'])('keeps serving when its output is %s', async (kind) => {
    const port = await freePort();
    const output = kind === 'a full disk' ? openSync('/dev/full', 'w') : 'pipe';
    const child = spawn(process.execPath, [BATON, 'up', '1P1D', '--port', String(port)], {
      env: withOwnRedis(),
      stdio: ['ignore', output, output],
    });
    up = child;
    child.stdout?.destroy();
    child.stderr?.destroy();
    const url = `http://127.0.0.1:${port}`;
    const isReady = (): Promise<boolean> =>
      fetch(`${url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitUntil(isReady, { what: 'it is ready' });
    const ask = { prompt: 'x', max_tokens: 3, ignore_eos: true };
    expect((await stream(`${url}/v1/completions`, ask)).finishReason).toBe('length');
    // A restart writes further lines.
    const live = await fetch(`${url}/health/live`).then((answer) => answer.json());
    process.kill((live as { pid: number }).pid, 'SIGKILL');
    await waitUntil(async () => !(await isReady()), { what: 'the API has ended' });
    await waitUntil(isReady, { what: 'it is ready again' });
    expect((await stream(`${url}/v1/completions`, ask)).finishReason).toBe('length');
    const gone = once(child, 'exit');
    child.kill('SIGINT');
    expect((await gone)[0]).toBe(0);
  });

  it('runs the cluster in one process where no Redis is available', async () => {
    const cluster = await start(['1P1D'], { PATH: '/nonexistent', HOME: '/nonexistent' });
    expect(cluster.log()).toContain('in-process');
    const answer = await stream(cluster.url, { prompt: 'x', max_tokens: 3, ignore_eos: true });
    expect(answer.finishReason).toBe('length');
    expect(await processesBelow(cluster.process.pid ?? 0)).toHaveLength(1);
    const gone = once(cluster.process, 'exit');
    cluster.process.kill('SIGTERM');
    expect((await gone)[0]).toBe(0);
  });
});

/** The number of processes with a connected standby thread. */
async function standbys({ socketPath }: PrivateRedis): Promise<number> {
  const admin = new Redis(socketPath);
  const clients = String(await admin.client('LIST'));
  admin.disconnect();
  return clients.split('name=baton-standby').length - 1;
}

/** Resolves when a decode engine has a running request, or when the answer has ended. */
async function isStreaming(cluster: Cluster, answer: Promise<unknown>): Promise<void> {
  const metrics = cluster.url.replace('/v1/completions', '/metrics');
  const runs = async (): Promise<boolean> => {
    const text = await fetch(metrics).then((answer) => answer.text());
    return /^vllm:num_requests_running\{.*\} [1-9]/m.test(text);
  };
  await waitUntil(runs, { what: 'a request runs', during: answer });
}
