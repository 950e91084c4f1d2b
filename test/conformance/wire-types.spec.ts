import type { Dialect, Endpoint } from '@baton/openai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/test/api-fixture';
import { read, ROOT } from '../tidy/repository';
import { answerType, wireFaults, type WireType } from './wire/wire-faults';

const GOLDEN = 'test/golden';

type Fields = Record<string, unknown>;

interface GoldenFile extends Pick<WireType, 'dialect'> {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly isStreamed: boolean;
}

function goldenAnswers(): GoldenFile[] {
  return readdirSync(join(ROOT, GOLDEN)).flatMap((name) => {
    const found = /^(openai|vllm)-(chat|completions)-.*\.(sse|body)\.txt$/.exec(name);
    if (found === null) return [];
    const [, dialect, endpoint, kind] = found as unknown as [string, Dialect, Endpoint, string];
    return [{ name, dialect, endpoint, isStreamed: kind === 'sse' }];
  });
}

/** The JSON documents of a stream's `data:` lines. */
function dataOf(stream: string): Fields[] {
  return [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json!) as Fields);
}

const bodiesOf = ({ name, isStreamed }: GoldenFile): Fields[] => {
  const text = read(`${GOLDEN}/${name}`);
  return isStreamed ? dataOf(text) : [JSON.parse(text) as Fields];
};

function faultsOf(body: Fields, { dialect, endpoint, isStreamed }: GoldenFile): string {
  if (body['error'] !== undefined) {
    expect(Object.keys(body)).toEqual(['error']);
    return wireFaults(body['error'], { dialect, type: 'ErrorObject' });
  }
  return wireFaults(body, { dialect, type: answerType(endpoint, isStreamed) });
}

describe('golden answers have the types of OpenAI’s client', () => {
  it.each(goldenAnswers())('$name', (file) => {
    const bodies = bodiesOf(file);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(faultsOf(body, file)).toBe('');
  });

  it.each(goldenAnswers().filter(({ name }) => /-(tool-calls|logprobs|usage)\./.test(name)))(
    'and not with an additional field in any object, or without its first one: $name',
    (file) => {
      for (const body of bodiesOf(file)) {
        for (const [place, object] of objectsIn(body)) {
          // Maps from tokens to numbers may have any key.
          if (/top_logprobs\.\d+$/.test(place) && file.endpoint === 'completions') continue;
          object['surprise'] = 1;
          expect(faultsOf(body, file), `${place}.surprise`).not.toBe('');
          delete object['surprise'];
        }
      }
    },
  );
});

/** Every object of a document with its place. */
function objectsIn(value: unknown, place = ''): [string, Fields][] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, one]) => objectsIn(one, `${place}.${key}`));
  return Array.isArray(value) ? below : [[place, value as Fields], ...below];
}

const TOOL = {
  name: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const MESSAGE = { max_tokens: 60, messages: [{ role: 'user', content: 'Why a baton?' }] };
const THINKING = { type: 'enabled', budget_tokens: 1024 };

const MESSAGES: readonly (readonly [string, object])[] = [
  ['a text', MESSAGE],
  ['a call of a tool', { ...MESSAGE, tools: [TOOL], tool_choice: { type: 'any' } }],
  ['a thought', { ...MESSAGE, max_tokens: 3000, thinking: THINKING }],
  ['a stop sequence', { ...MESSAGE, stop_sequences: ['e'] }],
  [
    'JSON of a schema',
    {
      ...MESSAGE,
      max_tokens: 300,
      output_config: { format: { type: 'json_schema', schema: TOOL.input_schema } },
    },
  ],
];

const REFUSED: readonly (readonly [string, unknown])[] = [
  ['/v1/chat/completions', {}],
  ['/v1/chat/completions', '{'],
  ['/v1/completions', { prompt: 'x', n: 0, stream: true }],
  ['/v1/completions', { prompt: 'x', model: 'nobody' }],
  ['/v1/completions', { prompt: 'word '.repeat(200_000) }],
  ['/v1/embeddings', { input: [] }],
  ['/tokenize', { prompt: 5 }],
  ['/detokenize', { tokens: [-1] }],
  ['/score', { queries: 'x' }],
  ['/rerank', { query: 'x', documents: 'y' }],
  ['/inference/v1/generate', { token_ids: [] }],
];

describe.each(['openai', 'vllm'] as const)('answers of a front in the %s dialect', (dialect) => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    const config = { dialect, reasoning: true };
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  const anthropic = (type: string): WireType => ({ dialect, type, publisher: 'anthropic' });

  it.each([
    ['a text', { input: 'a baton' }],
    ['texts', { input: ['a', 'b'], dimensions: 8 }],
    ['ids as base64', { input: [1, 2], encoding_format: 'base64' }],
  ])('have the type of embeddings, for %s', async (_name, body) => {
    const answer = await fixture.post('/v1/embeddings', body);
    expect(answer.status).toBe(200);
    const type = 'CreateEmbeddingResponse';
    expect(wireFaults(await answer.json(), { dialect, type })).toBe('');
  });

  it('have the types of models', async () => {
    const list = (await (await fetch(`${fixture.api.url}/v1/models`)).json()) as Fields;
    expect(Object.keys(list)).toEqual(['object', 'data']);
    const cards = list['data'] as Fields[];
    const one = await fetch(`${fixture.api.url}/v1/models/${cards[0]?.['id'] as string}`);
    for (const card of [...cards, await one.json()]) {
      expect(wireFaults(card, { dialect, type: 'Model' })).toBe('');
    }
  });

  it.each(REFUSED)('have the type of errors, at %s', async (path, body) => {
    const answer = await fixture.post(path, body);
    expect([400, 404]).toContain(answer.status);
    const whole = (await answer.json()) as Fields;
    expect(Object.keys(whole)).toEqual(['error']);
    expect(wireFaults(whole['error'], { dialect, type: 'ErrorObject' })).toBe('');
  });

  it.each(MESSAGES)('have the types of Anthropic’s client: %s', async (_name, body) => {
    const whole = await fixture.post('/v1/messages', body);
    expect(whole.status).toBe(200);
    expect(wireFaults(await whole.json(), anthropic('Message'))).toBe('');
    const stream = await (await fixture.post('/v1/messages', { ...body, stream: true })).text();
    const events = dataOf(stream);
    expect(events.length).toBeGreaterThan(4);
    for (const event of events) {
      expect(wireFaults(event, anthropic('RawMessageStreamEvent'))).toBe('');
    }
  });

  it('have Anthropic’s types of a count and of errors', async () => {
    const count = await fixture.post('/v1/messages/count_tokens', MESSAGE);
    expect(wireFaults(await count.json(), anthropic('MessageTokensCount'))).toBe('');
    for (const body of [{}, '{', { ...MESSAGE, model: 'nobody' }, { ...MESSAGE, max_tokens: 0 }]) {
      const refused = await fixture.post('/v1/messages', body);
      expect(wireFaults(await refused.json(), anthropic('ErrorResponse'))).toBe('');
    }
  });
});
