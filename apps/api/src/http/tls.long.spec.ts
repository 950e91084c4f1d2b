import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as secureRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { type BatonConfig, type Certificate, defaultConfig, readCertificate } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../../test/support/free-port';
import { ApiFixture } from '../../test/api-fixture';
import { exchange, rawPost } from '../../test/raw-http';
import { until } from '../../test/until';
import { CertificateRefresh } from './certificate-refresh';

const CERTIFICATES = join(__dirname, '../../test/certificates');
const pem = (name: string): string => join(CERTIFICATES, name);
const SERVER = { sslCertfile: pem('first.pem'), sslKeyfile: pem('first.key') };
const trusting = { ca: readFileSync(pem('authority.pem')) };

interface Answered {
  readonly status: number;
  /** Common name of the certificate that the server showed. */
  readonly shownBy: string;
  readonly body: string;
}

function ask(port: number, options: RequestOptions & { body?: string } = {}): Promise<Answered> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const asked = secureRequest(
      { host: '127.0.0.1', port, path: '/health/live', ...trusting, ...rest },
      (answer) => {
        const shownBy = String((answer.socket as TLSSocket).getPeerCertificate().subject.CN);
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, shownBy, body: text }));
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

const completion = (body: object): RequestOptions & { body: string } => ({
  path: '/v1/completions',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Files that are replaced while a server uses them. */
function replaceable() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = { sslCertfile: join(folder, 'tls.crt'), sslKeyfile: join(folder, 'tls.key') };
  const install = (name: string): void => {
    copyFileSync(pem(`${name}.pem`), files.sslCertfile);
    copyFileSync(pem(`${name}.key`), files.sslKeyfile);
  };
  return { files, install };
}

describe('the refresh of a certificate', () => {
  it('keeps the old one while the files do not match, and logs that once', () => {
    const { files, install } = replaceable();
    install('first');
    const config = defaultConfig({ ...files, enableSslRefresh: true });
    const begun = readCertificate(config) as Certificate;
    const applied: string[] = [];
    const said: string[] = [];
    const logger = {
      info: (_facts: object, text: string) => said.push(text),
      warn: (facts: { why: string }) => said.push(facts.why),
    } as unknown as Logger;
    const refresh = new CertificateRefresh(begun, config, logger, ({ cert }) => applied.push(cert));
    refresh.look();
    copyFileSync(pem('second.pem'), files.sslCertfile);
    refresh.look();
    refresh.look();
    writeFileSync(files.sslKeyfile, 'not a key');
    refresh.look();
    expect(applied).toEqual([]);
    install('second');
    refresh.look();
    refresh.look();
    expect(applied).toEqual([readFileSync(pem('second.pem'), 'utf8')]);
    expect(said.map((line) => /not belong|no private key|refreshed/.exec(line)?.[0])).toEqual([
      'not belong',
      'no private key',
      'refreshed',
    ]);
  });
});

describe('the API over TLS', () => {
  let fixture: ApiFixture | undefined;
  const start = async (config: Partial<BatonConfig>): Promise<ApiFixture> =>
    (fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] }));
  afterEach(async () => {
    await fixture?.stop();
    fixture = undefined;
  });

  it('answers and streams, and names its URL', async () => {
    const { port, api } = await start(SERVER);
    expect(api.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const whole = await ask(port, completion({ prompt: 'x', max_tokens: 3 }));
    expect(whole).toMatchObject({ status: 200, shownBy: 'first' });
    const streamed = await ask(port, completion({ prompt: 'x', max_tokens: 3, stream: true }));
    expect(streamed.body).toMatch(/^data: \{.*data: \[DONE\]\n\n$/s);
  });

  it('sends nothing to clients that speak plain HTTP', async () => {
    const { port } = await start(SERVER);
    expect(await exchange(port, rawPost('/v1/completions', '{}'))).toBe('');
    expect((await ask(port)).status).toBe(200);
  });

  it('is also used at the ports of engines', async () => {
    const exposeEnginesPort = await freePort();
    await start({ ...SERVER, exposeEngines: true, exposeEnginesPort, apiKey: ['sk-one'] });
    const path = '/v1/models';
    const isGuarded = (): Promise<boolean> =>
      ask(exposeEnginesPort, { path }).then(
        ({ status }) => status === 401,
        () => false,
      );
    await until(isGuarded);
    const headers = { authorization: 'Bearer sk-one' };
    const answer = await ask(exposeEnginesPort, { path, headers });
    expect(answer).toMatchObject({ status: 200, shownBy: 'first' });
  });

  it('requires a client certificate, or checks an optional one', async () => {
    const ca = { sslCaCerts: pem('authority.pem') };
    const shown = (name: string) => ({
      cert: readFileSync(pem(`${name}.pem`)),
      key: readFileSync(pem(`${name}.key`)),
      agent: false as const,
    });
    const strict = await start({ ...SERVER, ...ca, sslCertReqs: 2 });
    await expect(ask(strict.port)).rejects.toThrow();
    await expect(ask(strict.port, shown('stranger'))).rejects.toThrow();
    expect((await ask(strict.port, shown('client'))).status).toBe(200);
    await strict.stop();
    const lenient = await start({ ...SERVER, ...ca, sslCertReqs: 1 });
    await expect(ask(lenient.port, shown('stranger'))).rejects.toThrow();
    expect((await ask(lenient.port, shown('client'))).status).toBe(200);
    expect((await ask(lenient.port)).status).toBe(200);
  });

  it('takes a renewed certificate without dropping what is open', async () => {
    const { files, install } = replaceable();
    install('first');
    const { port } = await start({ ...files, enableSslRefresh: true });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const fresh = async (): Promise<string> => (await ask(port, { agent: false })).shownBy;
    expect((await ask(port, { agent })).shownBy).toBe('first');

    install('second');
    await until(async () => (await fresh()) === 'second');
    expect((await ask(port, { agent })).shownBy).toBe('first');
    agent.destroy();
  });

  it.each<[string, Partial<BatonConfig>, RegExp]>([
    [
      'a missing file',
      { ...SERVER, sslCertfile: '/no/such.pem' },
      /^ssl_certfile: .*be read: ENOENT.*\.$/,
    ],
    ['a file that is no certificate', { ...SERVER, sslCertfile: pem('first.key') }, /no certif/],
    ['a file that is no key', { ...SERVER, sslKeyfile: pem('first.pem') }, /no private key/],
    ['a key of another', { ...SERVER, sslKeyfile: pem('second.key') }, /does not belong/],
    ['a key alone', { sslKeyfile: pem('first.key') }, /no effect without ssl_certfile/],
    ['bad authorities', { ...SERVER, sslCaCerts: pem('first.key') }, /^ssl_ca_certs: /],
    ['client certificates without TLS', { sslCertReqs: 2 }, /no effect without ssl_certfile/],
  ])('does not start with %s', async (_name, config, sentence) => {
    await expect(start(config)).rejects.toThrow(sentence);
  });
});
