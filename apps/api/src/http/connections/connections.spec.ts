import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { exchange, parseAnswer, rawPost } from '../../../test/raw-http';

const live = (headers: readonly string[] = []): string =>
  ['GET /health/live HTTP/1.1', 'host: h', ...headers, '\r\n'].join('\r\n');

describe('connections', () => {
  let fixture: ApiFixture;
  let impatient: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({
      config: {
        maxConnections: 4,
        h11MaxHeaderCount: 10,
        h11MaxIncompleteEventSize: 2_048,
      },
      engines: [{ isEager: true }],
    });
    // Apart from the others: a busy machine can take longer than these limits for any request.
    impatient = await ApiFixture.start({
      config: { httpTimeoutHeaders: 0.3, httpTimeoutRequest: 0.6, httpTimeoutKeepAlive: 0.3 },
    });
  });
  afterAll(() => Promise.all([fixture.stop(), impatient.stop()]));

  const isWhole = (text: string): boolean => text.includes('}') && text.includes('\r\n\r\n');
  const statusOf = async (request: string, { port } = fixture): Promise<number> =>
    parseAnswer(await exchange(port, request, isWhole)).status;

  it.each([
    [9, 200],
    [10, 431],
    [500, 431],
  ])('carry a request with %i headers beside Host: %i', async (count, status) => {
    const headers = Array.from({ length: count }, (_, i) => `x-${i}: 1`);
    expect(await statusOf(live(headers))).toBe(status);
  });

  it('carry headers of a limited size', async () => {
    expect(await statusOf(live([`x-padding: ${'p'.repeat(1_500)}`]))).toBe(200);
    expect(await statusOf(live([`x-padding: ${'p'.repeat(2_100)}`]))).toBe(431);
  });

  it.each([
    ['no', 'GET /health/live HTTP/1.1\r\n\r\n', /no Host header/],
    ['a second', live(['host: other']), /two Host headers/],
  ])('refuse a request with %s Host header, with a reason', async (_how, request, reason) => {
    const { status, body } = parseAnswer(await exchange(fixture.port, request, isWhole));
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(reason);
  });

  it('need no Host header in HTTP/1.0', async () => {
    expect(await statusOf('GET /health/live HTTP/1.0\r\n\r\n')).toBe(200);
  });

  it('end with 408 when headers or a body do not come', async () => {
    const partial = 'POST /v1/completions HTTP/1.1\r\nhost: h\r\nx-more: ';
    const body = rawPost('/v1/completions', '{"prompt"', ['content-length: 100']);
    const statuses = [partial, body].map((request) => statusOf(request, impatient));
    expect(await Promise.all(statuses)).toEqual([408, 408]);
  });

  it('close after a while without a request', async () => {
    const socket = connect(impatient.port, '127.0.0.1');
    socket.write(live());
    socket.resume();
    await once(socket, 'close');
  });

  it('count once when their request offers an unknown upgrade', async () => {
    const single = await ApiFixture.start({ config: { maxConnections: 1 } });
    onTestFinished(() => single.stop());
    const upgrade = ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: AAM'];
    expect(await statusOf(live(upgrade), single)).toBe(200);
  });

  it('beyond the allowed number are closed at once, and new ones are accepted afterwards', async () => {
    const open: Socket[] = [];
    for (let i = 0; i < 4; i += 1) {
      const socket = connect(fixture.port, '127.0.0.1');
      await once(socket, 'connect');
      open.push(socket);
    }
    expect(await exchange(fixture.port, live())).toBe('');
    const gone = open.map((socket) => once(socket, 'close'));
    for (const socket of open) socket.destroy();
    await Promise.all(gone);
    expect(await statusOf(live())).toBe(200);
  });
});
