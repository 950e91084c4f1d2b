import { defaultConfig } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { Cors } from './cors';

const PAGE = 'https://page.example';
const cors = (config: Parameters<typeof defaultConfig>[0] = {}): Cors =>
  new Cors(defaultConfig(config));
const preflight = (method = 'POST', headers?: string) => ({
  origin: PAGE,
  'access-control-request-method': method,
  ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
});

describe('CORS', () => {
  it('allows every origin everything by default, as vLLM does', () => {
    expect(cors().simple({ origin: PAGE })).toEqual({ 'access-control-allow-origin': '*' });
    expect(cors().preflight(preflight('PATCH', 'x-one, x-two'))).toEqual({
      status: 200,
      text: 'OK',
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
        'access-control-allow-headers': 'x-one, x-two',
        'access-control-max-age': '600',
      },
    });
  });

  it('names the origin when only some origins are allowed', () => {
    const some = cors({ allowedOrigins: [PAGE] });
    const named = { 'access-control-allow-origin': PAGE, vary: 'Origin' };
    expect(some.simple({ origin: PAGE })).toEqual(named);
    expect(some.simple({ origin: 'https://other.example' })).toEqual({});
    expect(some.simple({})).toEqual({});
    expect(some.preflight(preflight()).headers).toMatchObject(named);
  });

  it('names the origin to pages that send cookies', () => {
    const credentials = { 'access-control-allow-credentials': 'true' };
    const open = cors({ allowCredentials: true });
    expect(open.simple({ origin: PAGE, cookie: 'a=b' })).toEqual({
      ...credentials,
      'access-control-allow-origin': PAGE,
      vary: 'Origin',
    });
    expect(open.preflight(preflight()).headers).toMatchObject({
      ...credentials,
      'access-control-allow-origin': PAGE,
    });
  });

  it('reports what it does not allow', () => {
    const narrow = cors({
      allowedOrigins: ['https://other.example'],
      allowedMethods: ['GET'],
      allowedHeaders: ['X-One'],
    });
    const answer = narrow.preflight(preflight('POST', 'x-one, x-two'));
    expect(answer).toMatchObject({ status: 400, text: 'Disallowed CORS origin, method, headers' });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    const fitting = { ...preflight('GET', 'x-ONE, accept'), origin: 'https://other.example' };
    expect(narrow.preflight(fitting)).toMatchObject({
      status: 200,
      headers: {
        'access-control-allow-headers':
          'Accept, Accept-Language, Content-Language, Content-Type, X-One',
      },
    });
  });
});

describe('a page on another origin', () => {
  it('can read streams, errors and answers at unknown paths', async () => {
    const fixture = await ApiFixture.start({
      config: { allowedOrigins: [PAGE] },
      engines: [{ isEager: true }],
    });
    const headers = { origin: PAGE };
    const url = fixture.api.url;
    const answers = [
      await fixture.post('/v1/completions', { prompt: 'x', stream: true }, { headers }),
      await fixture.post('/v1/completions', { prompt: 'x', max_tokens: 1 }, { headers }),
      await fixture.post('/v1/completions', '{', { headers }),
      await fetch(`${url}/v1/models`, { headers }),
      await fetch(`${url}/nothing`, { headers }),
    ];
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(answer.headers.get('vary')).toBe('Origin');
      await answer.text();
    }
    const refused = await fetch(`${url}/v1/models`, {
      method: 'OPTIONS',
      headers: { origin: 'https://other.example', 'access-control-request-method': 'GET' },
    });
    expect([refused.status, await refused.text()]).toEqual([400, 'Disallowed CORS origin']);
    await fixture.stop();
  });
});
