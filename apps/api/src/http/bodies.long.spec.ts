import * as zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { parseAnswer, rawPost, writeThenRead } from '../../test/raw-http';

const MEBIBYTE = 1024 * 1024;
const ASK = JSON.stringify({ prompt: 'Grüße', max_tokens: 2 });
const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };

type Encode = (bytes: Buffer) => Buffer;
const ENCODERS: readonly (readonly [string, Encode])[] = [
  ['gzip', zlib.gzipSync],
  ['x-gzip', zlib.gzipSync],
  ['GZip', zlib.gzipSync],
  ['br', zlib.brotliCompressSync],
  ...(zstdCompressSync === undefined ? [] : [['zstd', zstdCompressSync] as const]),
  ['identity', (bytes) => bytes],
];

describe.each(['openai', 'vllm'] as const)('the bytes of a body (%s)', (dialect) => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({
      config: { dialect, maxRequestBodyMb: 2 },
      engines: [{ isEager: true }],
    });
  });
  afterAll(() => fixture.stop());

  async function send(body: Buffer, encoding?: string, path = '/v1/completions') {
    const headers = {
      'content-type': 'application/json',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    };
    const url = `${fixture.api.url}${path}`;
    const answer = await fetch(url, { method: 'POST', body: new Uint8Array(body), headers });
    const json = (await answer.json()) as { error?: { message: string }; usage?: object };
    return { status: answer.status, ...json };
  }

  it.each(ENCODERS)('are decoded from %s', async (encoding, encode) => {
    const plain = await send(Buffer.from(ASK));
    expect(plain.status).toBe(200);
    const decoded = await send(encode(Buffer.from(ASK)), encoding);
    expect([decoded.status, decoded.usage]).toEqual([200, plain.usage]);
  });

  it.each(ENCODERS)('are bounded when they are decoded from %s', async (encoding, encode) => {
    const bomb = encode(Buffer.alloc(8 * MEBIBYTE, ' '));
    expect((await send(bomb, encoding)).status).toBe(413);
    const fits = JSON.stringify({ prompt: 'x', max_tokens: 1, user: 'u'.repeat(MEBIBYTE) });
    expect((await send(encode(Buffer.from(fits)), encoding)).status).toBe(200);
  });

  it.each(['deflate', 'compress', 'gzip, br', 'aws-chunked', 'x'])(
    'encoded as %s are refused with 415',
    async (encoding) => {
      const { status, error } = await send(Buffer.from(ASK), encoding);
      expect(status).toBe(415);
      expect(error?.message).toContain('gzip');
    },
  );

  it('that do not match their encoding are refused with 400', async () => {
    for (const encoding of ['gzip', 'br']) {
      expect((await send(Buffer.from(ASK), encoding)).status).toBe(400);
    }
    const cut = zlib.gzipSync(ASK).subarray(0, -9);
    expect((await send(cut, 'gzip')).status).toBe(400);
    expect((await send(zlib.gzipSync(''), 'gzip')).status).toBe(400);
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['a cut character', [0xc3]],
    ['an overlong form', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a number beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('that are not UTF-8 are refused with 400: %s', async (_name, bytes) => {
    const body = Buffer.concat([
      Buffer.from('{"max_tokens":1,"prompt":"x'),
      Buffer.from(bytes),
      Buffer.from('"}'),
    ]);
    const { status, error } = await send(body);
    expect(status).toBe(400);
    expect(error?.message).toContain('UTF-8');
    expect((await send(zlib.gzipSync(body), 'gzip')).status).toBe(400);
  });

  it('are bounded by what the route needs, however its path is written', async () => {
    const long = Buffer.from(JSON.stringify({ prompt: 'x', max_tokens: 1, user: 'u'.repeat(7e4) }));
    const paths = ['/v1/completions', '/v1/complet%69ons', '/ping', '/v1/conversations/conv_1'];
    const answers = await Promise.all(paths.map((path) => send(long, undefined, path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 413, 413]);
    expect(answers[3]?.error?.message).toContain('0.063 MiB');
    expect((await send(long, undefined, '/chat/completions')).status).toBe(404);
  });

  it.each(['keep-alive', 'close'])(
    'beyond the limit get their 413 when all are written before one is read (%s)',
    async (connection) => {
      const headers = [`connection: ${connection}`];
      const text = await writeThenRead(
        fixture.port,
        rawPost('/v1/completions', ' '.repeat(17 * MEBIBYTE), headers),
      );
      const { status, body } = parseAnswer(text);
      expect(status).toBe(413);
      expect(body).toHaveProperty('error.message');
    },
  );

  it('beyond the limit get their 413 also without an announced length', async () => {
    const chunk = `${MEBIBYTE.toString(16)}\r\n${' '.repeat(MEBIBYTE)}\r\n`;
    const headers = ['transfer-encoding: chunked', 'connection: close'];
    const request = rawPost('/v1/completions', `${chunk.repeat(17)}0\r\n\r\n`, headers);
    expect(parseAnswer(await writeThenRead(fixture.port, request)).status).toBe(413);
  });
});
