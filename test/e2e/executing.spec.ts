import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, stream } from '../support/client';
import { freePort, PLAIN_STEPS, TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const BODY = { max_tokens: 40, ignore_eos: true };

describe('a cluster whose stages execute on the exposed engines of another', () => {
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
    urls = [`--prefill-url=${urlOf('prefill')}`, `--decode-url=${urlOf('decode')}`];
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
      topology: '1P1D',
      flags: ['--executor=vllm', '--dialect=vllm', '--broker-grace=3', ...urls, ...how],
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

  async function expectSameTexts(): Promise<void> {
    const before = await nixl('nixl_xfer_time_seconds_count');
    const through = await Promise.all(
      prompts.map((prompt) => stream(`${router.baseUrl}/v1/completions`, { ...BODY, prompt })),
    );
    const handedOver = (await nixl('nixl_xfer_time_seconds_count')) - before;
    const direct = await Promise.all(
      prompts.map((prompt) => stream(`${upstream.baseUrl}/v1/completions`, { ...BODY, prompt })),
    );
    expect(through.map(({ text }) => text)).toEqual(direct.map(({ text }) => text));
    expect(through.map(({ finishReason }) => finishReason)).toEqual(prompts.map(() => 'length'));
    expect(handedOver).toBe(prompts.length);
    expect(await nixl('nixl_num_failed_transfers_total')).toBe(0);
    expect(await nixl('nixl_num_kv_expired_reqs_total')).toBe(0);
    await upstream.untilAtRest();
  }

  it('gives the texts that the other gives, and hands KV over once a request', expectSameTexts);

  it('shows the numbers of its servers as those of its engines', async () => {
    const name = 'nixl_xfer_time_seconds_count';
    await waitUntil(async () => (await nixl(name, router)) === (await nixl(name)), {
      what: 'the servers’ metrics are there',
    });
    expect(await nixl(name, router)).toBeGreaterThan(0);
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

  it('frees what the other holds when the client leaves', async () => {
    const leave = new AbortController();
    const body = { ...BODY, max_tokens: 4_000, prompt: 'x' };
    const left = stream(`${router.baseUrl}/v1/completions`, body, leave.signal).catch(() => 'left');
    await waitUntil(async () => (await upstream.sumOf('running')) > 0, { what: 'it runs' });
    leave.abort();
    expect(await left).toBe('left');
    await upstream.untilAtRest();
  });

  it('passes on what the other refuses', async () => {
    const refused = await post(`${router.baseUrl}/v1/completions`, { prompt: 'x', n: 0 });
    const same = await post(`${upstream.baseUrl}/v1/completions`, { prompt: 'x', n: 0 });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual(await same.json());
  });

  it.each(['nixl-push', 'mooncake'])(
    'does so as well with both legs at once (%s)',
    async (name) => {
      await router.stop();
      router = await startRouter(name);
      await expectSameTexts();
    },
  );

  it('ends requests with 503 when its servers are gone', async () => {
    await upstream.stop();
    const answer = await post(`${router.baseUrl}/v1/completions`, { ...BODY, prompt: 'x' });
    expect(answer.status).toBe(503);
  }, 60_000);
});
