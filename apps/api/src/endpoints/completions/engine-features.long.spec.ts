import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, type Transport } from '@baton/transport';
import { WorkerHosts } from '@baton/engine-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';
import { until } from '../../../test/until';
import { STAGE_WAYS } from '../../../../../libs/engine-host/test/stage-ways';

interface Completion {
  readonly choices: readonly { readonly text: string; readonly finish_reason: string }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

const PROMPT = 'a baton is handed from one runner to the next '.repeat(8);

/** A front with one real engine on the wall clock, with a speedup of 100. */
class Setting {
  private constructor(
    readonly fixture: ApiFixture,
    private readonly hosts: WorkerHosts,
    private readonly transport: Transport,
  ) {}

  static async open(overrides: Partial<BatonConfig>): Promise<Setting> {
    const fast = { speedup: 100, logLevel: 'silent', stepTime: 'constant' } as const;
    const config = defaultConfig({ topology: '1A', port: 0, ...fast, ...overrides });
    const fixture = await ApiFixture.start({ config, engines: [] });
    const transport = attachInProcess(fixture.hub);
    const log = createLogger({ name: 'engines', level: 'silent' });
    const hosts = await WorkerHosts.start({
      stages: STAGE_WAYS,
      config,
      transport,
      log,
      engines: { aggregated: 1 },
    });
    await until(async () => (await fetch(`${fixture.api.url}/health/ready`)).ok);
    return new Setting(fixture, hosts, transport);
  }

  async complete(fields: Readonly<Record<string, unknown>>): Promise<Completion> {
    const answer = await this.fixture.post('/v1/completions', { prompt: PROMPT, ...fields });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Completion;
  }

  /** Undefined when the scrape does not have the series. */
  readonly metric = async (series: string): Promise<number | undefined> => {
    const text = await (await fetch(`${this.fixture.api.url}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(series));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };

  async close(): Promise<void> {
    await this.hosts.stop(0);
    await this.transport.close();
    await this.fixture.stop();
  }
}

describe.each(['openai', 'vllm'] as const)('cache_hit_threshold in the %s dialect', (dialect) => {
  let setting: Setting;

  beforeAll(async () => {
    setting = await Setting.open({ dialect });
  });

  afterAll(() => setting.close());

  it('gives an empty answer until the engine holds enough of the prompt', async () => {
    const asked = { max_tokens: 4, ignore_eos: true, cache_hit_threshold: 0.8 };
    const refused = await setting.complete(asked);
    expect(refused.choices[0]).toMatchObject({ text: '', finish_reason: 'cache_threshold' });
    expect(refused.usage.completion_tokens).toBe(0);
    const computed = await setting.complete({ ...asked, cache_hit_threshold: 0 });
    expect(computed.choices[0]?.finish_reason).toBe('length');
    expect(await setting.complete(asked)).toMatchObject({
      choices: [{ text: computed.choices[0]?.text, finish_reason: 'length' }],
    });
    const success = 'vllm:request_success_total{engine="0",model_name="llama-3.1-8b"';
    expect(await setting.metric(`${success},finished_reason="cache_threshold"}`)).toBe(1);
    expect(await setting.metric(`${success},finished_reason="length"}`)).toBe(2);
  });

  it('ends a stream in the same way', async () => {
    const { text, finishReason, events, chunks } = await readStream(
      await setting.fixture.post('/v1/chat/completions', {
        messages: [{ role: 'user', content: PROMPT }],
        stream: true,
        cache_hit_threshold: 0.5,
      }),
    );
    expect([text, finishReason, events.at(-1)]).toEqual(['', 'cache_threshold', '[DONE]']);
    expect(chunks[0]?.choices?.[0]?.delta?.role).toBe('assistant');
  });
});

describe('speculative decoding', () => {
  const TOKENS = 60;
  const asked = {
    messages: [{ role: 'user', content: PROMPT }],
    stream: true,
    max_tokens: TOKENS,
    ignore_eos: true,
  };

  it('sends in bursts the text that otherwise comes token by token', async () => {
    const settings = [
      await Setting.open({}),
      await Setting.open({ numSpeculativeTokens: 3, speculativeAcceptanceRate: 0.8 }),
    ];
    const [plain, bursts] = await Promise.all(
      settings.map(async ({ fixture }) =>
        readStream(await fixture.post('/v1/chat/completions', asked)),
      ),
    );
    expect([bursts?.text, bursts?.finishReason]).toEqual([plain?.text, plain?.finishReason]);
    expect(bursts?.text.length).toBeGreaterThan(100);
    expect(bursts?.events.length).toBeLessThan(0.6 * TOKENS);
    const [withoutDrafts, withDrafts] = settings.map(({ metric }) => metric);
    const drafts = 'vllm:spec_decode_num_drafts_total{';
    await until(async () => ((await withDrafts!(drafts)) ?? 0) > 5);
    expect(await withoutDrafts!(drafts)).toBeUndefined();
    await Promise.all(settings.map((setting) => setting.close()));
  });
});
