import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

const KEYS = ['sk-one', 'sk-two'];
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

for (const dialect of ['openai', 'vllm'] as const) {
  describe(`API keys in the ${dialect} dialect`, () => {
    let fixture: ApiFixture;
    beforeAll(async () => {
      fixture = await ApiFixture.start({
        config: { dialect, apiKey: KEYS, enableAdmin: true },
        engines: [{ isEager: true }],
      });
    });
    afterAll(() => fixture.stop());
    const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${fixture.api.url}${path}`, { headers });

    it.each(KEYS)('open the API to %s', async (key) => {
      expect((await get('/v1/models', bearer(key))).status).toBe(200);
      const body = { prompt: 'x', max_tokens: 2 };
      const answer = await fixture.post('/v1/completions', body, { headers: bearer(key) });
      expect(answer.status).toBe(200);
      expect((await get('/v1/models', { authorization: `bEARER ${key}` })).status).toBe(200);
    });

    it.each<[string, Record<string, string>]>([
      ['without a key', {}],
      ['with a wrong key', bearer('sk-three')],
      ['with the beginning of a key', bearer('sk-on')],
      ['with more than a key', bearer('sk-one1')],
      ['with an empty key', bearer('')],
      ['with another scheme', { authorization: 'Basic sk-one' }],
      ['with the bare key', { authorization: 'sk-one' }],
    ])('refuse a request %s', async (_name, headers) => {
      for (const path of ['/v1/models', '/v2/rerank', '/inference/v1/generate', '/cohere/x']) {
        const answer = await get(path, headers);
        expect(answer.status, path).toBe(401);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
        const body = (await answer.json()) as { error: { type: string; code: string | null } };
        if (dialect === 'vllm') expect(body).toEqual({ error: 'Unauthorized' });
        else {
          expect(body.error.type).toBe('invalid_request_error');
          expect(body.error.code).toBe(
            /Bearer ./.test(headers['authorization'] ?? '') ? 'invalid_api_key' : null,
          );
        }
      }
    });

    it('are required however a guarded path is spelled, and before anything is read', async () => {
      const before = fixture.engine.runs.length;
      for (const path of ['/v1/completions', '/%761/completions', '/v1/%63ompletions']) {
        expect((await fixture.post(path, '{"prompt":')).status, path).toBe(401);
      }
      expect((await get('/admin/engines')).status).toBe(401);
      expect(fixture.engine.runs.length).toBe(before);
    });

    it('are not required where vLLM requires none, nor for a preflight', async () => {
      for (const path of ['/health', '/metrics', '/version', '/tokenizer_info']) {
        expect((await get(path)).status, path).toBe(200);
      }
      const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
      const answer = await fetch(`${fixture.api.url}/v1/completions`, {
        method: 'OPTIONS',
        headers: preflight,
      });
      expect(answer.status).toBe(200);
    });

    it('may come in Anthropic’s header for messages, and are refused in Anthropic’s shape', async () => {
      const body = { model: '', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] };
      const path = '/v1/messages';
      const open = await fixture.post(path, body, { headers: { 'x-api-key': 'sk-two' } });
      expect(open.status).not.toBe(401);
      const refused = await fixture.post(path, body, { headers: { 'x-api-key': 'sk-3' } });
      expect(refused.status).toBe(401);
      const error: unknown = await refused.json();
      if (dialect === 'vllm') expect(error).toEqual({ error: 'Unauthorized' });
      else expect(error).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
      const elsewhere = await get('/v1/models', { 'x-api-key': 'sk-two' });
      expect(elsewhere.status).toBe(401);
    });
  });
}
