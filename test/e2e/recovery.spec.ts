import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';
import { onTime } from '../support/on-time';
import { RoleProcess } from '../support/role-process';
import { waitUntil } from '../support/wait';

const TOKENS = 120;
/** Of an answer that the test cuts: no pause of a machine is as long. */
const LONG_TOKENS = 4_000;
/** As in `PLAIN_STEPS`. */
const TOKEN_MS = 5;
const PAUSE_MS = 5_000;
const BODY = { max_tokens: TOKENS, ignore_eos: true };

/**
 * What is lost comes back or was a further process, so one cluster serves all cases but one. Each
 * case first waits until it has its processes and is at rest.
 */
describe('a cluster under faults', () => {
  let cluster: TestCluster;
  /** Its answers before any fault, by prompt. */
  let texts: readonly string[];

  beforeAll(async () => {
    cluster = await TestCluster.start({ topology: '2P2D', flags: PLAIN_STEPS });
    texts = (await load(cluster, 40)).map(({ text }) => text);
    expect(new Set(texts).size).toBe(40);
  });

  afterAll(() => cluster.stop());

  function load(
    { baseUrl }: { baseUrl: string },
    requests: number,
    tokens = TOKENS,
  ): Promise<StreamedAnswer[]> {
    const body = { ...BODY, max_tokens: tokens };
    const streams = Array.from({ length: requests }, (_, i) =>
      stream(`${baseUrl}/v1/completions`, { ...body, prompt: promptOf(i) }),
    );
    return Promise.all(streams);
  }

  /** Expects the text of an undisturbed cluster for each prompt. */
  function expectRight(answers: readonly StreamedAnswer[]): void {
    expect(answers.map((answer) => answer.error)).toEqual(answers.map(() => undefined));
    expect(answers.map((answer) => answer.text)).toEqual(texts.slice(0, answers.length));
    expect(answers.map((answer) => answer.finishReason)).toEqual(answers.map(() => 'length'));
  }

  /** Expects the right text for later requests too, and no block in use afterwards. */
  async function expectRecovered(disturbed: readonly StreamedAnswer[]): Promise<void> {
    expectRight(disturbed);
    expectRight(await load(cluster, disturbed.length));
    await cluster.untilAtRest();
  }

  /** A process of the stage, once the load runs. */
  async function victim(stage: 'prefill' | 'decode', running: Promise<unknown>): Promise<number> {
    const run = async (): Promise<boolean> => (await cluster.sumOf('running')) > 0;
    await waitUntil(run, { what: 'requests run', during: running });
    const [pid] = await cluster.pidsOf(stage);
    expect(pid).toBeDefined();
    return pid ?? 0;
  }

  afterEach(async () => {
    await cluster.untilWorkers({ prefill: 2, decode: 2 });
    await cluster.untilAtRest();
  });

  it.each(['prefill', 'decode'] as const)(
    'loses no request when a %s worker is killed',
    async (stage) => {
      const running = load(cluster, 40);
      process.kill(await victim(stage, running), 'SIGKILL');
      await expectRecovered(await running);
    },
  );

  it.each(['prefill', 'decode'] as const)(
    'repeats no token when a %s worker is paused and continues',
    async (stage) => {
      const running = load(cluster, 40);
      const pid = await victim(stage, running);
      process.kill(pid, 'SIGSTOP');
      const answers = await running;
      process.kill(pid, 'SIGCONT');
      await expectRecovered(answers);
    },
  );

  it('moves the jobs of a worker that was paused and then dies within 3 s', () =>
    onTime(5, async () => {
      await cluster.untilWorkers({ prefill: 2, decode: 2 });
      const early = load(cluster, 40);
      const pid = await victim('decode', early);
      // The worker is late now, so its leases are as long as the pause.
      process.kill(pid, 'SIGSTOP');
      await pause(PAUSE_MS);
      process.kill(pid, 'SIGCONT');
      expectRight(await early);
      const runsThere = async (): Promise<boolean> =>
        (await cluster.engines()).some((one) => one.pid === pid && one.gauges.running > 0);
      let running = load(cluster, 40);
      for (;;) {
        await waitUntil(runsThere, { what: 'the worker has jobs', during: running });
        if (await runsThere()) break;
        expectRight(await running);
        running = load(cluster, 40);
      }
      const killedMs = performance.now();
      process.kill(pid, 'SIGKILL');
      expectRight(await running);
      const tookMs = performance.now() - killedMs;
      return () => expect(tookMs).toBeLessThan(3_000 + TOKENS * TOKEN_MS);
    }));

  it.each([
    ['taken', 'prefill'],
    ['held', 'prefill'],
    ['handed-over', 'prefill'],
    ['decode-begun', 'decode'],
    ['read-answered', 'prefill'],
    ['ended', 'decode'],
    ['finished', 'decode'],
  ] as const)('survives a crash right after "%s" (a %s worker)', async (step, stage) => {
    const flags = [...PLAIN_STEPS, `--crash-after=${step}`];
    const doomed = await RoleProcess.worker(cluster, stage, flags);
    const crashes = async (): Promise<boolean> => {
      expectRight(await load(cluster, 8));
      return !doomed.isAlive;
    };
    await waitUntil(crashes, { what: `it crashes right after "${step}"` });
    expect(await doomed.ended).toBe('SIGKILL');
  });

  it('loses no request when Redis is killed and comes back empty', async () => {
    const before = await cluster.jobsAdded('prefill');
    const running = load(cluster, 20);
    // A request that is not yet in its queue is refused with 503.
    await waitUntil(async () => (await cluster.jobsAdded('prefill')) === before + 20, {
      what: 'all wait',
    });
    await victim('decode', running);
    await cluster.redis.kill();
    await cluster.redis.start();
    const answers = await running;
    // The streams may end before the API is connected again, and it refuses requests until then.
    await cluster.untilServingAgain();
    await expectRecovered(answers);
  });

  it('frees the blocks of an API process that was killed', async () => {
    const running = load(cluster, 10, LONG_TOKENS).catch(() => 'connection lost');
    await victim('decode', running);
    process.kill(await cluster.apiPid(), 'SIGKILL');
    expect(await running).toBe('connection lost');
    await cluster.untilAtRest();
    await cluster.untilServing();
    expectRight(await load(cluster, 10));
  });

  describe('that has a second API process, which loses messages', () => {
    let api: RoleProcess;
    let baseUrl: string;

    beforeAll(async () => {
      const port = await freePort();
      baseUrl = `http://127.0.0.1:${port}`;
      const frames = ['--drop-frames=0.1', '--repeat-frames=0.1', '--reorder-frames=0.1'];
      api = await RoleProcess.api(cluster, port, [...frames, '--lose-aborts=1']);
    });

    afterAll(() => api.stop());

    it('streams the right text when frames are dropped, repeated and reordered', async () => {
      expectRight(await load({ baseUrl }, 20));
    });

    it('frees the blocks of an aborted request whose abort message was lost', async () => {
      const leave = new AbortController();
      const url = `${baseUrl}/v1/completions`;
      const left = stream(
        url,
        { ...BODY, max_tokens: LONG_TOKENS, prompt: 'x' },
        leave.signal,
      ).catch(() => 'left');
      await waitUntil(async () => (await cluster.sumOf('running')) > 0, { what: 'it runs' });
      leave.abort();
      expect(await left).toBe('left');
      await cluster.untilAtRest();
    });
  });

  it('survives a crash between the take and the start of a placed job', async () => {
    const flags = [...PLAIN_STEPS, '--placement=round-robin', '--crash-after=taken'];
    const crashing = await TestCluster.start({ topology: '2P2D', flags });
    try {
      expectRight(await load(crashing, 8));
    } finally {
      await crashing.stop();
    }
  });
});

function promptOf(index: number): string {
  return `Request number ${index} asks for a short story about runner ${index % 7}.`;
}
