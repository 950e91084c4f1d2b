import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { exchange, parseAnswer, rawPost } from '../../test/raw-http';

interface ErrorAnswer {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: unknown;
  };
}

const MEBIBYTE = 1024 * 1024;

for (const dialect of ['openai', 'vllm'] as const) {
  describe(`bad input in the ${dialect} dialect`, () => {
    let fixture: ApiFixture;

    beforeAll(async () => {
      fixture = await ApiFixture.start({
        config: { dialect, maxRequestBodyMb: 2 },
        engines: [{ isEager: true }],
      });
    });

    afterAll(() => fixture.stop());

    const expectError = ({ body }: { body: unknown }, status: number): void => {
      const { error } = body as ErrorAnswer;
      expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
      expect(error.message.length).toBeGreaterThan(0);
      if (dialect === 'vllm') expect(error.code).toBe(status);
      else expect(typeof error.code === 'string' || error.code === null).toBe(true);
    };

    const refused = async (
      request: string | Buffer,
      status: number,
      { port } = fixture,
    ): Promise<string> => {
      const isWhole = (text: string): boolean => /"code":[^}]+}}/.test(text);
      const text = await exchange(port, request, isWhole);
      const answer = parseAnswer(text);
      expect(answer.status).toBe(status);
      expect(answer.headers).toContain('content-type: application/json');
      expect(answer.headers.includes('x-request-id: ')).toBe(dialect === 'openai');
      expect(answer.headers).toContain('access-control-allow-origin: *');
      expectError(answer, status);
      return text;
    };

    it.each([
      ['that is not JSON', '{"prompt": '],
      ['that is a string', '"prompt"'],
      ['that is a list', '[1]'],
      ['that is null', 'null'],
      ['that is a number', '7'],
      ['that is empty', ''],
    ])('refuses a body %s with 400', async (_name, body) => {
      await refused(rawPost('/v1/completions', body), 400);
      await refused(rawPost('/v1/chat/completions', body), 400);
    });

    it('refuses a request without any body with 400', async () => {
      await refused('POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n', 400);
    });

    it('refuses a body that announces too many bytes with 413', async () => {
      const announced = `content-length: ${3 * MEBIBYTE}`;
      await refused(rawPost('/v1/completions', '{"prompt":"', [announced]), 413);
    });

    it('counts a chunked body while it is read and refuses it with 413', async () => {
      const chunk = `${MEBIBYTE.toString(16)}\r\n${' '.repeat(MEBIBYTE)}\r\n`;
      const request = rawPost('/v1/completions', chunk.repeat(3), ['transfer-encoding: chunked']);
      await refused(request, 413);
    });

    it('lets a client that sends its large body first still read the 413', async () => {
      const answer = await fixture.post('/v1/completions', ' '.repeat(4 * MEBIBYTE));
      expect(answer.status).toBe(413);
      expectError({ body: await answer.json() }, 413);
    });

    it('serves a body just below the limit', async () => {
      const body = JSON.stringify({ prompt: 'x', max_tokens: 1, user: 'u'.repeat(MEBIBYTE) });
      expect((await fixture.post('/v1/completions', body)).status).toBe(200);
    });

    it.each(['abc', '-1', '1, 2'])('refuses the Content-Length %s with 400', async (length) => {
      await refused(rawPost('/v1/completions', '{}', [`content-length: ${length}`]), 400);
    });

    it('refuses a URL that cannot be decoded with 400', async () => {
      await refused('GET /v1/models/%E0%A4%A HTTP/1.1\r\nhost: h\r\n\r\n', 400);
    });

    it('refuses what is not HTTP with 400', async () => {
      await refused('NONSENSE\r\n\r\n', 400);
    });

    it('refuses oversized headers with 431', async () => {
      const header = `x-padding: ${'p'.repeat(40_000)}`;
      await refused(`GET /v1/models HTTP/1.1\r\nhost: h\r\n${header}\r\n\r\n`, 431);
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])(
      'refuses the content type %s with 400',
      async (type) => {
        const answer = await fixture.post('/v1/completions', '{"prompt":"x"}', {
          headers: { 'content-type': type },
        });
        expect(answer.status).toBe(400);
        expectError({ body: await answer.json() }, 400);
      },
    );

    it('accepts parameters of the content type', async () => {
      const answer = await fixture.post('/v1/completions', '{"prompt":"x","max_tokens":1}', {
        headers: { 'content-type': 'application/json; charset=utf-8' },
      });
      expect(answer.status).toBe(200);
    });

    it('refuses an unknown model with 404 before anything is queued', async () => {
      const before = fixture.engine.runs.length;
      const answer = await fixture.post('/v1/completions', { model: 'nope', prompt: 'x' });
      expect(answer.status).toBe(404);
      expectError({ body: await answer.json() }, 404);
      expect(fixture.engine.runs.length).toBe(before);
    });

    it('answers unknown paths and wrong methods in the dialect’s shape', async () => {
      const notFound = await fetch(`${fixture.api.url}/v1/nothing`);
      expect(notFound.status).toBe(404);
      const wrongMethod = await fetch(`${fixture.api.url}/v1/completions`);
      expect(wrongMethod.status).toBe(405);
      expect(wrongMethod.headers.get('allow')).toBe('POST');
      const bodies = [await notFound.json(), await wrongMethod.json()];
      if (dialect === 'vllm') {
        expect(bodies).toEqual([{ detail: 'Not Found' }, { detail: 'Method Not Allowed' }]);
      } else {
        for (const body of bodies) expect(body).toHaveProperty('error.message');
      }
    });

    it('closes the connection of a client that sends half a body and waits', async () => {
      // A server of its own: a busy machine can take longer than this limit for any other request.
      const impatient = await ApiFixture.start({ config: { dialect, httpTimeoutRequest: 0.5 } });
      const request = rawPost('/v1/completions', '{"prompt":', ['content-length: 100']);
      await refused(request, 408, impatient).finally(() => impatient.stop());
    });
  });
}

describe('a front with misbehaving connections', () => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  it('survives 500 connections that open and close at once', async () => {
    const half = rawPost('/v1/completions', '{"prompt":', ['content-length: 100']);
    await Promise.all(
      Array.from({ length: 500 }, async (_, i) => {
        const socket = connect(fixture.port, '127.0.0.1');
        await new Promise((resolve) => socket.once('connect', resolve));
        if (i % 2 === 0) socket.write(half);
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.destroy();
        await closed;
      }),
    );
    const answer = await fixture.post('/v1/completions', { prompt: 'x', max_tokens: 2 });
    expect(answer.status).toBe(200);
  });

  it('answers a CORS preflight for any origin', async () => {
    const answer = await fetch(`${fixture.api.url}/v1/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-headers')).toBe('content-type');
  });

  it('serves models by id, with slashes and escapes, and 404 for others', async () => {
    const list = (await (await fetch(`${fixture.api.url}/v1/models`)).json()) as {
      data: { id: string; root: string; max_model_len: number }[];
    };
    const id = list.data[0]?.id ?? '';
    expect((await fetch(`${fixture.api.url}/v1/models/${id}`)).status).toBe(200);
    const absent = await fetch(`${fixture.api.url}/v1/models/some/other%20model`);
    expect(absent.status).toBe(404);
    expect(JSON.stringify(await absent.json())).toContain('some/other model');
  });
});
