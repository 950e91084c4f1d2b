import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { post, stream } from '../support/client';

const PROMPT = [{ role: 'user' as const, content: 'Why do relay runners practise the hand-over?' }];
const MODEL = 'llama-3.1-8b';

describe('a cluster from the view of a client', () => {
  let disaggregated: TestCluster;
  let aggregated: TestCluster;
  let client: OpenAI;

  beforeAll(async () => {
    disaggregated = await TestCluster.start({
      topology: '1P2D',
      flags: [...PLAIN_STEPS, '--engines-per-process=2'],
    });
    aggregated = await TestCluster.start({ topology: '1A', flags: PLAIN_STEPS });
    client = new OpenAI({ baseURL: `${disaggregated.baseUrl}/v1`, apiKey: 'none' });
  });

  afterAll(async () => {
    await Promise.all([disaggregated?.stop(), aggregated?.stop()]);
  });

  it('streams a chat completion through prefill and decode to the openai package', async () => {
    const chunks = await client.chat.completions.create({
      model: MODEL,
      messages: PROMPT,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let completionTokens = 0;
    let finishReason: string | null = null;
    for await (const chunk of chunks) {
      text += chunk.choices[0]?.delta.content ?? '';
      finishReason = chunk.choices[0]?.finish_reason ?? finishReason;
      completionTokens = chunk.usage?.completion_tokens ?? completionTokens;
    }
    const whole = await client.chat.completions.create({ model: MODEL, messages: PROMPT });
    expect(text.length).toBeGreaterThan(0);
    expect(whole.choices[0]?.message.content).toBe(text);
    expect(whole.usage?.completion_tokens).toBe(completionTokens);
    expect(whole.choices[0]?.finish_reason).toBe(finishReason);
    await disaggregated.untilAtRest();
  });

  it('answers the same text from an aggregated engine', async () => {
    const body = { model: MODEL, messages: PROMPT, max_tokens: 60 };
    const viaHandOver = await stream(`${disaggregated.baseUrl}/v1/chat/completions`, body);
    const local = await stream(`${aggregated.baseUrl}/v1/chat/completions`, body);
    expect(local.text).toBe(viaHandOver.text);
    expect(local.finishReason).toBe(viaHandOver.finishReason);
  });

  it('gives every chunk of a stream the same id and ends with [DONE]', async () => {
    const answer = await stream(`${disaggregated.baseUrl}/v1/chat/completions`, {
      messages: PROMPT,
      max_tokens: 12,
    });
    expect(answer.ids).toHaveLength(1);
    expect(answer.endedWithDone).toBe(true);
  });

  it('reads all long prompts of a client that sends them at once', async () => {
    const prompt = 'relay runners practise the hand-over '.repeat(1_000);
    const answers = await Promise.all(
      Array.from({ length: 150 }, async (_, i) => {
        const body = { prompt: `${i} ${prompt}`, max_tokens: 1 };
        return post(`${aggregated.baseUrl}/v1/completions`, body);
      }),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    await Promise.all(answers.map((answer) => answer.text()));
    expect([...statuses]).toEqual([200]);
  });

  it('generates exactly max_tokens when end tokens are ignored', async () => {
    const answer = await post(`${disaggregated.baseUrl}/v1/completions`, {
      prompt: 'one two three',
      max_tokens: 33,
      ignore_eos: true,
    });
    const { usage, choices } = (await answer.json()) as {
      usage: { completion_tokens: number };
      choices: { finish_reason: string }[];
    };
    expect(usage.completion_tokens).toBe(33);
    expect(choices[0]?.finish_reason).toBe('length');
  });

  it('answers several prompts and choices in order of their index', async () => {
    const answer = await post(`${disaggregated.baseUrl}/v1/completions`, {
      prompt: ['first prompt', 'second prompt'],
      n: 2,
      max_tokens: 5,
      ignore_eos: true,
    });
    const { choices, usage } = (await answer.json()) as {
      choices: { index: number; text: string }[];
      usage: { completion_tokens: number };
    };
    expect(choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3]);
    expect(new Set(choices.map((choice) => choice.text)).size).toBe(4);
    expect(usage.completion_tokens).toBe(20);
  });

  it('frees all blocks at once when the client disconnects in mid-stream', async () => {
    const leave = new AbortController();
    const answer = await post(
      `${disaggregated.baseUrl}/v1/completions`,
      { prompt: 'a long story', max_tokens: 4000, ignore_eos: true, stream: true },
      leave.signal,
    );
    const reader = answer.body?.getReader();
    await reader?.read();
    leave.abort();
    await disaggregated.untilAtRest();
  });

  it('counts the requests in /metrics of the whole cluster', async () => {
    const text = await (await fetch(`${disaggregated.baseUrl}/metrics`)).text();
    expect(total(text, 'vllm:generation_tokens_total')).toBeGreaterThan(100);
    expect(total(text, 'vllm:nixl_bytes_transferred_count')).toBeGreaterThan(3);
    const bySource = total(text, 'vllm:prompt_tokens_by_source_total');
    expect(bySource).toBe(total(text, 'vllm:prompt_tokens_total'));
  });
});

/** Sum over all series of a family in the text exposition format. */
function total(exposition: string, family: string): number {
  return exposition
    .split('\n')
    .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
