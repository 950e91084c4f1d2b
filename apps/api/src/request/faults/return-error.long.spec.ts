import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

const MODEL = 'llama-3.1-8b';
const CHAT = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 };

describe('X-Return-Error and failure injection', () => {
  let front: ApiFixture | undefined;

  afterEach(async () => {
    await front?.stop();
    front = undefined;
  });

  async function start(config: Partial<BatonConfig> = {}): Promise<ApiFixture> {
    front = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    return front;
  }

  async function ask(path: string, body: object, status?: string): Promise<[number, unknown]> {
    const headers = status === undefined ? {} : { 'x-return-error': status };
    const answer = await front?.post(path, body, { headers });
    return [answer?.status ?? 0, await answer?.json()];
  }

  const errorOf = (
    type: string,
    message: string,
    more: { code: unknown; param?: string },
  ): object => ({
    error: { message, type, param: more.param ?? null, code: more.code },
  });

  it.each([
    [
      429,
      'RateLimitError',
      'requests',
      'rate_limit_exceeded',
      'Rate limit reached. Please retry later.',
    ],
    [
      401,
      'AuthenticationError',
      'invalid_request_error',
      'invalid_api_key',
      'Incorrect API key provided.',
    ],
    [
      403,
      'PermissionDeniedError',
      'invalid_request_error',
      null,
      'You are not allowed to do this.',
    ],
    [
      422,
      'UnprocessableEntityError',
      'invalid_request_error',
      null,
      'The request cannot be processed.',
    ],
    [418, 'BadRequestError', 'invalid_request_error', null, 'The request failed with status 418.'],
    [500, 'InternalServerError', 'server_error', null, 'Internal server error'],
    [
      503,
      'ServiceUnavailableError',
      'server_error',
      null,
      'The server is overloaded or not ready yet.',
    ],
    [599, 'InternalServerError', 'server_error', null, 'Internal server error'],
  ])('answers %i in the shape of each dialect', async (status, type, openaiType, code, message) => {
    await start({ dialect: 'vllm' });
    const seen = await ask('/v1/chat/completions', CHAT, String(status));
    expect(seen).toEqual([status, errorOf(type, message, { code: status })]);
    await front?.stop();
    await start();
    for (const stream of [false, true]) {
      const shown = await ask('/v1/chat/completions', { ...CHAT, stream }, String(status));
      expect(shown).toEqual([status, errorOf(openaiType, message, { code })]);
    }
  });

  it.each(['200', '600', 'soon', '4.5'])(
    'answers 400 to %j, which is no status of a failure',
    async (status) => {
      await start();
      const [seen, body] = await ask('/v1/chat/completions', CHAT, status);
      expect(seen).toBe(400);
      expect(JSON.stringify(body)).toContain(
        'X-Return-Error must be an HTTP status from 400 to 599.',
      );
    },
  );

  it.each([
    ['/v1/completions', { prompt: 'Hello' }],
    ['/v1/embeddings', { input: 'Hello' }],
    ['/v1/responses', { input: 'Hello' }],
    ['/inference/v1/generate', { token_ids: [1, 2, 3], sampling_params: { max_tokens: 2 } }],
  ])('is heard at %s', async (path, body) => {
    await start();
    expect((await ask(path, body, '429'))[0]).toBe(429);
  });

  it("keeps Anthropic's shape at /v1/messages", async () => {
    await start();
    const seen = await ask('/v1/messages', { model: MODEL, ...CHAT }, '429');
    const message = 'Rate limit reached. Please retry later.';
    expect(seen).toMatchObject([
      429,
      { type: 'error', error: { type: 'rate_limit_error', message } },
    ]);
  });

  it('is applied after the body has been checked', async () => {
    await start();
    expect((await ask('/v1/chat/completions', { messages: 7 }, '429'))[0]).toBe(400);
    expect((await ask('/v1/chat/completions', { ...CHAT, model: 'gpt' }, '429'))[0]).toBe(404);
  });

  it.each([
    [
      'rate_limit',
      429,
      'RateLimitError',
      `Rate limit reached for ${MODEL} in organization org-xxx on requests per min (RPM): ` +
        'Limit 3, Used 3, Requested 1.',
      undefined,
    ],
    ['invalid_api_key', 401, 'AuthenticationError', 'Incorrect API key provided.', undefined],
    [
      'context_length',
      400,
      'BadRequestError',
      "This model's maximum context length is 4096 tokens. However, your messages resulted " +
        'in 4500 tokens.',
      'messages',
    ],
    [
      'server_error',
      503,
      'ServiceUnavailableError',
      'The server is overloaded or not ready yet.',
      undefined,
    ],
    [
      'invalid_request',
      400,
      'BadRequestError',
      "Invalid request: missing required parameter 'model'.",
      'model',
    ],
    [
      'model_not_found',
      404,
      'NotFoundError',
      `The model '${MODEL}-nonexistent' does not exist`,
      'model',
    ],
  ] as const)(
    'fails every request with %s when told to',
    async (failure, status, type, message, param) => {
      await start({ dialect: 'vllm', failureInjectionRate: 100, failureTypes: [failure] });
      const more = param === undefined ? {} : { param };
      expect(await ask('/v1/chat/completions', CHAT)).toEqual([
        status,
        errorOf(type, message, { code: status, ...more }),
      ]);
      const page = await (await fetch(`${front?.api.url}/metrics`)).text();
      expect(page).toContain('baton:faults_injected_total{fault="error",stage="queue"} 1');
    },
  );

  it('skips the injection by percent when the header asks for a status', async () => {
    await start({ failureInjectionRate: 100, failureTypes: ['rate_limit'] });
    expect((await ask('/v1/chat/completions', CHAT, '404'))[0]).toBe(404);
  });
});
