import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { KnownRoutes } from './known-routes';

for (const dialect of ['openai', 'vllm'] as const) {
  describe(`methods in the ${dialect} dialect`, () => {
    let fixture: ApiFixture;
    beforeAll(async () => {
      fixture = await ApiFixture.start({ config: { dialect, enableDevMode: true } });
    });
    afterAll(() => fixture.stop());
    const ask = (method: string, path: string): Promise<Response> =>
      fetch(`${fixture.api.url}${path}`, { method });

    it.each(['/v1/models', '/version', '/health/live', '/metrics', '/server_info'])(
      'HEAD %s is what the dialect makes of it',
      async (path) => {
        const answer = await ask('HEAD', path);
        expect(answer.status).toBe(dialect === 'openai' ? 200 : 405);
        expect(await answer.text()).toBe('');
        if (dialect === 'vllm') expect(answer.headers.get('allow')).toBe('GET');
      },
    );

    it.each([
      ['/v1/chat/completions', 'GET, HEAD, POST', 'GET, POST'],
      ['/v1/models', 'GET, HEAD', 'GET'],
      ['/v1/responses/resp_1', 'GET, HEAD, DELETE', 'GET, DELETE'],
      ['/sleep', 'POST', 'POST'],
    ])('OPTIONS %s tells the methods', async (path, openai, vllm) => {
      const answer = await ask('OPTIONS', path);
      expect(answer.status).toBe(dialect === 'openai' ? 204 : 405);
      expect(answer.headers.get('allow')).toBe(dialect === 'openai' ? openai : vllm);
    });

    it('every route lists its methods, and refuses the others', async () => {
      const routes = fixture.api.app.get(KnownRoutes);
      const paths = [...new Set(routes.list().map((route) => route.pattern))];
      expect(paths.length).toBeGreaterThan(40);
      for (const pattern of paths) {
        const path = pattern.replace(/:\w+/g, 'some').replace('*', '/any');
        const methods = routes.methodsOf(path) ?? [];
        const asked = await ask('OPTIONS', path);
        expect([asked.status, asked.headers.get('allow')], path).toEqual([
          dialect === 'openai' ? 204 : 405,
          methods.join(', '),
        ]);
        const wrong = await ask('PATCH', path);
        expect([wrong.status, wrong.headers.get('allow')], path).toEqual([405, methods.join(', ')]);
        expect(methods.includes('HEAD'), path).toBe(
          dialect === 'openai' && methods.includes('GET'),
        );
      }
    });

    it.each([
      ['/v1/v1/chat/completions', '/v1/chat/completions'],
      ['/chat/completions', '/v1/chat/completions'],
      ['/v1/completions/', '/v1/completions'],
      ['//v1//models', '/v1/models'],
      ['/v1/health', '/health'],
      ['/v1/chat/completion?x=1', '/v1/chat/completions'],
      ['/v1/completely/other', undefined],
      [`/v1/${'chat/'.repeat(60)}`, undefined],
    ])('a wrong path proposes the one that is meant: %s', async (path, meant) => {
      const text = await (await ask('POST', path)).text();
      if (dialect === 'vllm') expect(text).toBe('{"detail":"Not Found"}');
      else if (meant === undefined) expect(text).not.toContain('Did you mean');
      else expect(text).toContain(`Did you mean ${meant}?`);
    });

    it('the root sends a browser to the live page', async () => {
      const answer = await fetch(`${fixture.api.url}/`, {
        headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
        redirect: 'manual',
      });
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'ui/']);
    });

    it('the root names what is served', async () => {
      const text = await (await ask('GET', '/')).text();
      for (const path of dialect === 'vllm' ? ['Not Found'] : ['/v1', '/ui', '/docs'])
        expect(text).toContain(path);
    });

    it.each(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])(
      '%s of an unknown path is a 404',
      async (method) => {
        const answer = await ask(method, '/v1/no/such');
        expect(answer.status).toBe(404);
        const body = (await answer.json()) as object;
        if (dialect === 'vllm') expect(body).toEqual({ detail: 'Not Found' });
        else expect(body).toHaveProperty('error.type', 'invalid_request_error');
      },
    );

    it.each(['/v1/audio/speech', '/v1/audio/transcriptions', '/v1/images/generations'])(
      'what makes sound and pictures, %s, is a plain 404',
      async (path) => {
        const answer = await fixture.post(path, { model: 'm', input: 'x', prompt: 'x' });
        expect(answer.status).toBe(404);
        const body = (await answer.json()) as { error?: { message: string } };
        if (dialect === 'openai') expect(body.error?.message).toContain(path);
      },
    );
  });
}

describe('X-Request-Id', () => {
  const idOf = async (config: object, headers: Record<string, string>): Promise<string | null> => {
    const fixture = await ApiFixture.start({ config });
    const answer = await fetch(`${fixture.api.url}/version`, { headers });
    await fixture.stop();
    return answer.headers.get('x-request-id');
  };
  const mine = { 'x-request-id': 'mine-1' };

  it('is always answered in the openai dialect', async () => {
    expect(await idOf({}, mine)).toBe('mine-1');
    expect(await idOf({}, {})).toMatch(/^[0-9a-f]{32}$/);
    expect(await idOf({}, { 'x-request-id': 'x'.repeat(300) })).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is answered in the vllm dialect when the option is on', async () => {
    expect(await idOf({ dialect: 'vllm' }, mine)).toBeNull();
    const config = { dialect: 'vllm', enableRequestIdHeaders: true };
    expect(await idOf(config, mine)).toBe('mine-1');
    expect(await idOf(config, {})).toMatch(/^[0-9a-f]{32}$/);
  });
});
