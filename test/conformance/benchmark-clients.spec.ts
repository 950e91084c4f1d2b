import { RandomStream } from '@baton/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/test/api-fixture';
import type { FakeRun } from '../../apps/api/test/fake-engine';
import {
  readAsGuidellm,
  readAsLlmperf,
  readAsVllmBench,
  type Reading,
} from './streams/benchmark-readers';
import { ChunkReader } from './streams/chunk-reader';

const TOKENS = 6;
const PATHS = { chat: '/v1/chat/completions', completions: '/v1/completions' } as const;
const PROMPTS = {
  chat: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Why a baton?' }] }] },
  completions: { prompt: 'Once' },
} as const;
const BODY = { max_tokens: TOKENS, ignore_eos: true, stream: true };
const USAGE = { stream_options: { include_usage: true } };

type Endpoint = keyof typeof PATHS;

const dataOf = (chunk: string): string => chunk.slice('data: '.length, -2);
const usageOf = (chunk: string): unknown =>
  (JSON.parse(dataOf(chunk)) as { usage?: unknown }).usage;

describe.each(['openai', 'vllm'] as const)('on the wire of the %s dialect', (dialect) => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect, shutdownTimeout: 0.1 } });
  });

  afterAll(() => fixture.stop());

  const open = async (endpoint: Endpoint, more: object): Promise<[ChunkReader, FakeRun]> => {
    const body = { ...PROMPTS[endpoint], ...BODY, ...more };
    const reader = ChunkReader.post(fixture.port, PATHS[endpoint], body);
    return [await reader, await fixture.engine.next()];
  };

  /** Every chunk of a whole stream, one engine step after another. */
  const stream = async (endpoint: Endpoint, more: object = {}): Promise<string[]> => {
    const [reader, run] = await open(endpoint, more);
    for (let at = 0; at + 1 < run.job.outputTokens; at++) run.token(at);
    run.endSequence();
    await reader.end();
    await run.finishJob();
    return reader.chunks;
  };

  it('a chat says its role with the first token, and nothing before', async () => {
    const [reader, run] = await open('chat', {});
    expect(reader.head).toContain('200 ok');
    expect(reader.head).toContain('content-type: text/event-stream; charset=utf-8');
    expect(reader.head).not.toContain('content-encoding');
    expect(reader.chunks).toEqual([]);
    run.token(0);
    await reader.until(2);
    expect(reader.chunks[0]).toContain('"delta":{"role":"assistant"');
    expect(reader.chunks[1]).toMatch(/"delta":\{"content":"[^"]+"\}/);
    expect(reader.chunks).toHaveLength(2);
    for (let at = 1; at < TOKENS - 1; at++) run.token(at);
    run.endSequence();
    await reader.end();
  });

  it.each(['chat', 'completions'] as const)('%s: a token is a chunk at once', async (endpoint) => {
    const [reader, run] = await open(endpoint, {});
    const before = endpoint === 'chat' ? 1 : 0;
    for (let at = 0; at < TOKENS - 1; at++) {
      run.token(at);
      await reader.until(before + at + 1);
      expect(reader.chunks).toHaveLength(before + at + 1);
    }
    run.endSequence();
    await reader.end();
  });

  it.each(['chat', 'completions'] as const)(
    '%s: one frame a chunk, no comments, no names, [DONE] last',
    async (endpoint) => {
      const chunks = await stream(endpoint);
      expect(chunks.at(-1)).toBe('data: [DONE]\n\n');
      for (const chunk of chunks) expect(chunk).toMatch(/^data: [^\n]+\n\n$/);
      for (const chunk of chunks.slice(0, -1))
        expect(() => JSON.parse(dataOf(chunk))).not.toThrow();
    },
  );

  it.each(['chat', 'completions'] as const)('%s: usage comes only when asked', async (endpoint) => {
    for (const chunk of (await stream(endpoint)).slice(0, -1)) {
      expect(usageOf(chunk)).toBeUndefined();
      expect(chunk).not.toContain('"choices":[]');
    }
    const asked = (await stream(endpoint, USAGE)).slice(0, -1);
    const usage = usageOf(asked.at(-1)!) as { completion_tokens: number };
    expect(usage.completion_tokens).toBe(TOKENS);
    expect(asked.at(-1)).toContain('"choices":[]');
    for (const chunk of asked.slice(0, -1)) {
      expect(usageOf(chunk)).toBe(dialect === 'vllm' ? undefined : null);
      expect(chunk).not.toContain('"choices":[]');
    }
  });

  it('continuous_usage_stats count up in every chunk', async () => {
    const options = { include_usage: true, continuous_usage_stats: true };
    const chunks = (await stream('chat', { stream_options: options })).slice(0, -1);
    const counts = chunks.map(
      (c) => (usageOf(c) as { completion_tokens: number }).completion_tokens,
    );
    expect(counts[0]).toBe(0);
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
    expect(counts.at(-1)).toBe(TOKENS);
  });

  it('a failure in mid-stream is an event, then [DONE]', async () => {
    const [reader, run] = await open('completions', {});
    run.token(0);
    await reader.until(1);
    run.endSequence({ reason: 'error', tail: 'engine_error', first: 1, count: 0 });
    await reader.end();
    expect(reader.chunks.at(-1)).toBe('data: [DONE]\n\n');
    expect(JSON.parse(dataOf(reader.chunks.at(-2)!))).toHaveProperty('error.message');
  });

  /** The stream as received, and with its chunks merged into longer reads. */
  const readings = async (
    read: (reads: readonly string[]) => Reading,
    endpoint: Endpoint,
    more: object,
  ): Promise<readonly Reading[]> => {
    const chunks = await stream(endpoint, more);
    return [chunks, ...mergings(chunks, 20)].map((reads) => read(reads));
  };

  describe.each(['chat', 'completions'] as const)('%s, read by', (endpoint) => {
    it('vllm bench serve, for any cuts between frames', async () => {
      const all = await readings(readAsVllmBench, endpoint, USAGE);
      for (const reading of all) {
        expect(reading).toMatchObject({
          firstTokenRead: 0,
          completionTokens: TOKENS,
          isWhole: true,
        });
        expect(reading.text).toBe(all[0]!.text);
      }
      expect(all[0]!.text).not.toBe('');
    });

    it('guidellm and aiperf: a token a chunk', async () => {
      for (const reading of await readings(readAsGuidellm, endpoint, USAGE)) {
        expect(reading).toMatchObject({
          completionTokens: TOKENS,
          tokenChunks: TOKENS,
          isWhole: true,
        });
      }
    });
  });

  it('a chat, read by llmperf: a token a chunk, without usage', async () => {
    for (const reading of await readings(readAsLlmperf, 'chat', {})) {
      expect(reading).toMatchObject({ tokenChunks: TOKENS, isWhole: true });
    }
  });
});

/** The chunks as reads of one or several of them, in many ways. */
function mergings(chunks: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, seed) => {
    const random = RandomStream.root(seed);
    const reads: string[] = [];
    for (const chunk of chunks) {
      if (reads.length === 0 || random.unit() < 0.5) reads.push(chunk);
      else reads[reads.length - 1] += chunk;
    }
    return reads;
  });
}

const common = { model: 'llama-3.1-8b', stream: true, ignore_eos: true };

describe('the requests of benchmark clients', () => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    const config = { dialect: 'vllm' as const };
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  it.each([
    [
      'vllm bench serve, completions',
      '/v1/completions',
      { ...common, prompt: 'x', repetition_penalty: 1, max_tokens: 9, logprobs: null, ...USAGE },
    ],
    [
      'vllm bench serve, prompts of ids',
      '/v1/completions',
      { ...common, prompt: [1, 2, 3], max_tokens: 9, ...USAGE },
    ],
    [
      'vllm bench serve, chat',
      '/v1/chat/completions',
      { ...common, ...PROMPTS.chat, max_completion_tokens: 9, ...USAGE },
    ],
    [
      'guidellm',
      '/v1/chat/completions',
      {
        ...common,
        ...PROMPTS.chat,
        max_tokens: 9,
        stop: null,
        stream_options: { include_usage: true, continuous_usage_stats: true },
      },
    ],
    [
      'llmperf',
      '/v1/chat/completions',
      {
        ...common,
        messages: [{ role: 'system', content: '' }, ...PROMPTS.chat.messages],
        max_tokens: 9,
      },
    ],
  ])('%s: exactly so many tokens as asked for', async (_name, path, body) => {
    const answer = await fixture.post(path, body, { headers: { 'x-request-id': 'bench-1' } });
    expect(answer.status).toBe(200);
    const reading = readAsGuidellm([await answer.text()]);
    expect(reading).toMatchObject({ tokenChunks: 9, isWhole: true });
    expect(reading.completionTokens ?? 9).toBe(9);
  });

  it('find the facts that they need before they begin', async () => {
    expect((await fetch(`${fixture.api.url}/health`)).status).toBe(200);
    expect((await fetch(`${fixture.api.url}/metrics`)).status).toBe(200);
    const models = (await (await fetch(`${fixture.api.url}/v1/models`)).json()) as {
      data: { id: string; root: string }[];
    };
    expect(models.data[0]?.id).toBe('llama-3.1-8b');
    expect(models.data[0]?.root).toEqual(expect.any(String));
  });
});
