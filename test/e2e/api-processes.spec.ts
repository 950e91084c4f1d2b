import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import type { ClusterPicture } from '@baton/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stream, type StreamedAnswer } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { isAlive } from '../support/processes';
import { waitUntil } from '../support/wait';

const PROCESSES = 3;
const BODY = { prompt: 'The baton is passed on.', max_tokens: 30, ignore_eos: true };

describe('a cluster with several API processes behind one port', () => {
  let cluster: TestCluster;
  let sent = 0;

  beforeAll(async () => {
    const flags = [...PLAIN_STEPS, `--api-processes=${PROCESSES}`];
    cluster = await TestCluster.start({ topology: '1P1D', flags });
  });
  afterAll(() => cluster?.stop());

  /** An answer by a new connection. The kernel chooses a process that waits for connections. */
  function freshAnswer(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      get(`${cluster.baseUrl}${path}`, { agent: false }, (answer) => {
        let text = '';
        answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
        answer.on('end', () => resolve(text));
      }).once('error', reject);
    });
  }

  async function freshPid(): Promise<number> {
    return (JSON.parse(await freshAnswer('/health/live')) as { pid: number }).pid;
  }

  /** Waits until so many different processes have answered. */
  async function apiPids(count: number): Promise<number[]> {
    const seen = new Set<number>();
    const areSeen = async (): Promise<boolean> => {
      const some = await Promise.all(Array.from({ length: 20 }, freshPid));
      for (const pid of some.filter(isAlive)) seen.add(pid);
      return seen.size === count;
    };
    await waitUntil(areSeen, { what: `${count} API processes answer` });
    return [...seen];
  }

  async function streams(count: number): Promise<StreamedAnswer[]> {
    sent += count;
    const url = `${cluster.baseUrl}/v1/completions`;
    return Promise.all(Array.from({ length: count }, (_, seed) => stream(url, { ...BODY, seed })));
  }

  async function counted(): Promise<number> {
    const page = await freshAnswer('/metrics');
    const lines = page.split('\n').filter((line) => line.startsWith('vllm:request_success_total{'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** One picture of the live page that fits. */
  async function pictureWhere(fits: (picture: ClusterPicture) => boolean): Promise<ClusterPicture> {
    const answer = await fetch(`${cluster.baseUrl}/ui/stream`);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of answer.body ?? []) {
      const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const [, data = ''] = /^event: picture\ndata: (.*)$/.exec(event) ?? [];
        if (data !== '' && fits(JSON.parse(data) as ClusterPicture)) {
          return JSON.parse(data) as ClusterPicture;
        }
      }
    }
    throw new Error('the stream of pictures ended');
  }

  it('answers from each of them', async () => {
    expect(await apiPids(PROCESSES)).not.toContain(cluster.supervisorPid);
  });

  it('counts all requests together, whichever process shows the metrics', async () => {
    const answers = await streams(40);
    expect(answers.map(({ finishReason }) => finishReason)).toEqual(answers.map(() => 'length'));
    await waitUntil(async () => (await counted()) === sent, { what: 'all are counted' });
    const pages = await Promise.all(Array.from({ length: 12 }, counted));
    expect(new Set(pages)).toEqual(new Set([sent]));
  });

  it('shows the requests of all of them on each live page, and in the load', async () => {
    const long = { ...BODY, max_tokens: 100_000 };
    const leave = new AbortController();
    const running = Array.from({ length: 12 }, () =>
      stream(`${cluster.baseUrl}/v1/completions`, long, leave.signal).catch(() => undefined),
    );
    const under = (picture: ClusterPicture): number => picture.phases.reduce((a, b) => a + b, 0);
    const pictures = await Promise.all(
      [1, 2, 3, 4].map(() => pictureWhere((picture) => under(picture) === running.length)),
    );
    for (const { requests } of pictures) {
      const keys = requests.filter((_number, i) => i % 4 === 0);
      expect(new Set(keys).size).toBe(running.length);
    }
    const load = await (await fetch(`${cluster.baseUrl}/load`)).json();
    expect(load).toEqual({ server_load: running.length });
    leave.abort();
    await Promise.all(running);
    sent += running.length;
    await cluster.untilAtRest();
  });

  it('goes on when one is killed, starts it again, and counts nothing backwards', async () => {
    const before = await counted();
    const [victim = 0] = await apiPids(PROCESSES);
    process.kill(victim, 'SIGKILL');
    await waitUntil(() => !isAlive(victim), { what: 'it has ended' });
    expect(await counted()).toBeGreaterThanOrEqual(before);
    const pids = await apiPids(PROCESSES);
    expect(pids).not.toContain(victim);
    const answers = await streams(20);
    expect(answers.map(({ finishReason }) => finishReason)).toEqual(answers.map(() => 'length'));
    await waitUntil(() => /api-\d ended by SIGKILL; starting it again/.test(cluster.log), {
      what: 'the log says that it is started again',
    });
    await waitUntil(async () => (await counted()) >= before + 20, { what: 'all are counted' });
  });

  it('ends with its supervisor', async () => {
    const pids = await apiPids(PROCESSES);
    const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pids[0]}/status`, 'utf8'))?.[1];
    process.kill(cluster.supervisorPid, 'SIGKILL');
    const all = [...pids, Number(parent)];
    await waitUntil(() => all.every((pid) => !isAlive(pid)), { what: 'all have ended' });
  });
});

describe('several API processes', () => {
  it('share one made key of administration, and start engines through the supervisor', async () => {
    const flags = [...PLAIN_STEPS, '--api-processes=2', '--enable-admin'];
    const cluster = await TestCluster.start({ topology: '1A', flags });
    const made = /made for this run \(admin_api_key sets one\): (\S+)/;
    await waitUntil(() => made.test(cluster.log), { what: 'the key is printed' });
    const [, key = ''] = made.exec(cluster.log) ?? [];
    const join = (): Promise<Response> =>
      fetch(`${cluster.baseUrl}/admin/engines`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          connection: 'close',
        },
        body: JSON.stringify({ role: 'aggregated', count: 1 }),
      });
    for (const _time of [1, 2, 3]) expect((await join()).status).toBeLessThan(300);
    await cluster.untilWorkers({ aggregated: 4 });
    expect(cluster.log.match(/made for this run/g)).toHaveLength(1);
    await cluster.stop();
  });
});
