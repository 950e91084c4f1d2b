import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const TOKENS = 120;
const BODY = { max_tokens: TOKENS, ignore_eos: true };

describe('a cluster under faults', () => {
  let cluster: TestCluster | undefined;
  /** The answers of an undisturbed cluster, by prompt. */
  let texts: readonly string[];

  beforeAll(async () => {
    const calm = await start('1P1D');
    texts = (await load(calm, 40)).map(({ text }) => text);
    await calm.stop();
    cluster = undefined;
    expect(new Set(texts).size).toBe(40);
  });

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(topology: string, ...flags: string[]): Promise<TestCluster> {
    cluster = await TestCluster.start({ topology, flags: [...PLAIN_STEPS, ...flags] });
    return cluster;
  }

  function load(target: TestCluster, requests: number): Promise<StreamedAnswer[]> {
    const streams = Array.from({ length: requests }, (_, i) =>
      stream(`${target.baseUrl}/v1/completions`, { ...BODY, prompt: promptOf(i) }),
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
  async function expectRecovered(
    target: TestCluster,
    disturbed: readonly StreamedAnswer[],
  ): Promise<void> {
    expectRight(disturbed);
    expectRight(await load(target, disturbed.length));
    await target.untilAtRest();
  }

  async function victim(target: TestCluster, stage: 'prefill' | 'decode'): Promise<number> {
    await waitUntil(async () => (await target.sumOf('running')) > 0, { what: 'requests run' });
    const [pid] = await target.pidsOf(stage);
    expect(pid).toBeDefined();
    return pid ?? 0;
  }

  /** A lost worker is back before the next loss, so one cluster serves all cases. */
  describe('that loses workers for a while', () => {
    let target: TestCluster;

    beforeAll(async () => {
      target = await TestCluster.start({ topology: '2P2D', flags: [...PLAIN_STEPS] });
    });

    afterAll(() => target.stop());

    it.each(['prefill', 'decode'] as const)(
      'loses no request when a %s worker is killed',
      async (stage) => {
        const running = load(target, 40);
        process.kill(await victim(target, stage), 'SIGKILL');
        await expectRecovered(target, await running);
        await waitUntil(async () => (await target.pidsOf(stage)).length === 2, {
          what: 'it is back',
        });
      },
    );

    it.each(['prefill', 'decode'] as const)(
      'repeats no token when a %s worker is paused and continues',
      async (stage) => {
        const running = load(target, 40);
        const pid = await victim(target, stage);
        process.kill(pid, 'SIGSTOP');
        const answers = await running;
        process.kill(pid, 'SIGCONT');
        await expectRecovered(target, answers);
      },
    );
  });

  it.each(['taken', 'held', 'handed-over', 'decode-begun', 'read-answered', 'ended', 'finished'])(
    'survives a crash right after "%s"',
    async (step) => {
      const target = await start('2P2D', `--crash-after=${step}`);
      expectRight(await load(target, 8));
    },
  );

  it('survives a crash between the take and the start of a placed job', async () => {
    const target = await start('2P2D', '--placement=round-robin', '--crash-after=taken');
    expectRight(await load(target, 8));
  });

  it('streams the right text when frames are dropped, repeated and reordered', async () => {
    const target = await start(
      '1P2D',
      '--drop-frames=0.1',
      '--repeat-frames=0.1',
      '--reorder-frames=0.1',
    );
    expectRight(await load(target, 20));
  });

  it('loses no request when Redis is killed and comes back empty', async () => {
    const target = await start('1P2D');
    const running = load(target, 20);
    // A request that is not yet in its queue is refused with 503.
    await waitUntil(async () => (await target.jobsAdded('prefill')) === 20, { what: 'all wait' });
    await victim(target, 'decode');
    await target.redis.kill();
    await target.redis.start();
    await expectRecovered(target, await running);
  });

  it('frees the blocks of an API process that was killed', async () => {
    const target = await start('1P1D');
    const running = load(target, 10).catch(() => 'connection lost');
    await victim(target, 'decode');
    process.kill(await target.apiPid(), 'SIGKILL');
    expect(await running).toBe('connection lost');
    await target.untilAtRest();
  });

  it('frees the blocks of an aborted request whose abort message was lost', async () => {
    const target = await start('1P1D', '--lose-aborts=1');
    const leave = new AbortController();
    const url = `${target.baseUrl}/v1/completions`;
    const left = stream(url, { ...BODY, max_tokens: 4000, prompt: 'x' }, leave.signal).catch(
      () => 'left',
    );
    await waitUntil(async () => (await target.sumOf('running')) > 0, { what: 'it runs' });
    leave.abort();
    expect(await left).toBe('left');
    await target.untilAtRest();
  });
});

function promptOf(index: number): string {
  return `Request number ${index} asks for a short story about runner ${index % 7}.`;
}
