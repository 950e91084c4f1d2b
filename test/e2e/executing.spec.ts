import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, stream, type StreamedAnswer } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';
import { waitUntil } from '../support/wait';

/** A counter of vLLM. */
const FETCHED = 'nixl_xfer_time_seconds_count';
const BODY = { max_tokens: 40, ignore_eos: true };

describe('a cluster whose stages execute on the exposed engines of a second one', () => {
  let upstream: TestCluster;
  let router: TestCluster;
  let urls: string[];
  let bootstrapPort: string;

  beforeAll(async () => {
    const firstPort = await freePort(2);
    const exposed = ['--expose-engines', `--expose-engines-port=${firstPort}`];
    const flags = [...PLAIN_STEPS, '--dialect=vllm', '--kv-lease-duration=6', ...exposed];
    upstream = await TestCluster.start({ topology: '1P1D', flags });
    const engines = await upstream.engines();
    const urlOf = (stage: string): string => {
      const index = engines.find((engine) => engine.stage === stage)?.index ?? 0;
      return `http://127.0.0.1:${firstPort + index}`;
    };
    const prefill = `--prefill-url=${urlOf('prefill')}`;
    urls = [prefill, prefill, `--decode-url=${urlOf('decode')}`];
    bootstrapPort = new URL(urlOf('prefill')).port;
    router = await startRouter('nixl');
  });

  /** The engines of the exposing cluster are their own bootstrap servers. */
  function startRouter(connector: string): Promise<TestCluster> {
    const how = [
      `--upstream-kv-connector=${connector}`,
      `--prefill-bootstrap-port=${bootstrapPort}`,
      '--upstream-metrics-interval=0.2',
    ];
    return TestCluster.start({
      topology: '2P1D',
      flags: ['--executor=vllm', '--dialect=vllm', '--engine-grace=5', ...urls, ...how],
    });
  }

  afterAll(async () => {
    await router?.stop();
    await upstream?.stop();
  });

  const prompts = Array.from(
    { length: 12 },
    (_, i) => `Runner ${i} waits for the baton at mark ${i * 7}.`,
  );

  async function nixl(name: string, cluster = upstream): Promise<number> {
    const page = await (await fetch(`${cluster.baseUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith(`vllm:${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Holdings of the second cluster that ended because their reader had them. */
  async function readOnce(): Promise<number> {
    const engines = await upstream.engines();
    return engines.reduce((sum, { counters }) => sum + (counters['kv_released_read_done'] ?? 0), 0);
  }

  function ask({ baseUrl }: TestCluster): Promise<StreamedAnswer>[] {
    return prompts.map((prompt) => stream(`${baseUrl}/v1/completions`, { ...BODY, prompt }));
  }

  async function expectSameTexts(): Promise<void> {
    const [before, read] = [await nixl(FETCHED), await readOnce()];
    const through = await Promise.all(ask(router));
    const handedOver = (await nixl(FETCHED)) - before;
    const direct = await Promise.all(ask(upstream));
    expect(through.map(({ text }) => text)).toEqual(direct.map(({ text }) => text));
    expect(through.map(({ finishReason }) => finishReason)).toEqual(prompts.map(() => 'length'));
    expect(handedOver).toBe(prompts.length);
    expect(await nixl('nixl_num_failed_transfers_total')).toBe(0);
    // Blocks of a killed worker's request can expire meanwhile, so only those read are counted.
    const all = read + handedOver + direct.length;
    await waitUntil(async () => (await readOnce()) >= all, { what: 'all readers free the blocks' });
    expect(await readOnce()).toBe(all);
    await upstream.untilAtRest();
  }

  it('gives the texts of the second cluster, and hands KV over once per request', expectSameTexts);

  /** The server of the worker stays silent until the worker is dead. */
  async function expectNoLoss(): Promise<void> {
    const direct = await Promise.all(ask(upstream));
    const [server] = await upstream.pidsOf('prefill');
    process.kill(server ?? 0, 'SIGSTOP');
    const running = ask(router);
    const victim = await busyPrefill(router);
    process.kill(victim, 'SIGKILL');
    process.kill(server ?? 0, 'SIGCONT');
    const texts = (await Promise.all(running)).map(({ text, error }) => error ?? text);
    expect(texts).toEqual(direct.map(({ text }) => text));
    await upstream.untilAtRest();
  }

  async function busyPrefill(target: TestCluster): Promise<number> {
    let pid: number | undefined;
    const isBusy = async (): Promise<boolean> => {
      const engines = await target.engines();
      const busy = engines.find(({ stage, gauges }) => stage === 'prefill' && gauges.running > 0);
      pid = busy?.pid;
      return pid !== undefined;
    };
    await waitUntil(isBusy, { what: 'a prefill worker waits for its server' });
    return pid ?? 0;
  }

  it('loses no request when a prefill worker is killed', expectNoLoss);

  it('shows the numbers of its servers as those of its engines', async () => {
    await waitUntil(async () => (await nixl(FETCHED, router)) === (await nixl(FETCHED)), {
      what: 'the servers’ metrics are there',
    });
    expect(await nixl(FETCHED, router)).toBeGreaterThan(0);
  });

  it('answers in one piece what it streams, with the usage of the server', async () => {
    const [prompt] = prompts;
    const whole = await post(`${router.baseUrl}/v1/completions`, { ...BODY, prompt });
    const { choices, usage } = (await whole.json()) as {
      choices: { text: string }[];
      usage: { completion_tokens: number };
    };
    const streamed = await stream(`${router.baseUrl}/v1/completions`, { ...BODY, prompt });
    expect(choices[0]?.text).toBe(streamed.text);
    expect(usage.completion_tokens).toBe(BODY.max_tokens);
  });

  it('frees the blocks of the second cluster when the client disconnects', async () => {
    const leave = new AbortController();
    const body = { ...BODY, max_tokens: 4_000, prompt: 'x' };
    const left = stream(`${router.baseUrl}/v1/completions`, body, leave.signal).catch(() => 'left');
    await waitUntil(async () => (await upstream.sumOf('running')) > 0, { what: 'it runs' });
    leave.abort();
    expect(await left).toBe('left');
    await upstream.untilAtRest();
  });

  it('passes a refusal of the second cluster on', async () => {
    const refused = await post(`${router.baseUrl}/v1/completions`, { prompt: 'x', n: 0 });
    const same = await post(`${upstream.baseUrl}/v1/completions`, { prompt: 'x', n: 0 });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual(await same.json());
  });

  it.each(['nixl-push', 'mooncake'])('hands KV over with both legs at once (%s)', async (name) => {
    await router.stop();
    router = await startRouter(name);
    await expectSameTexts();
    await expectNoLoss();
  });

  it('ends requests with 503 when its servers have ended', async () => {
    await upstream.stop();
    const answer = await post(`${router.baseUrl}/v1/completions`, { ...BODY, prompt: 'x' });
    expect(answer.status).toBe(503);
  });
});
