import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { PrivateRedis } from '../support/redis-server';

const pem = (name: string): string =>
  fileURLToPath(new URL(`../../apps/api/test/certificates/${name}`, import.meta.url));
/** Requests per minute and key: a further one is allowed after 15 s. */
const LIMIT = 4;
const ASKS = 20;
const FLAGS = [
  ...PLAIN_STEPS,
  `--ssl-certfile=${pem('first.pem')}`,
  `--ssl-keyfile=${pem('first.key')}`,
  '--api-key=sk-one',
  `--limit-requests-per-minute=${LIMIT}`,
];

/** Requests one token over TLS with a verified certificate. Resolves with the HTTP status. */
function ask({ port }: TestCluster, key: string): Promise<number> {
  const options = {
    host: '127.0.0.1',
    port,
    path: '/v1/completions',
    method: 'POST',
    ca: readFileSync(pem('authority.pem')),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  };
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.once('error', reject);
    asked.end(JSON.stringify({ prompt: 'x', max_tokens: 1 }));
  });
}

describe('two API processes with a certificate, a key and a limit', () => {
  let redis: PrivateRedis;
  let fronts: TestCluster[] = [];

  beforeAll(async () => {
    redis = await PrivateRedis.launch();
    fronts = await Promise.all(
      ['1P1D', '1A'].map((topology) => TestCluster.start({ topology, flags: FLAGS, redis })),
    );
  });

  afterAll(async () => {
    await Promise.all(fronts.map((front) => front.stop()));
    await redis?.close();
  });

  it('serve clients with the key over HTTPS, and share one limit', async () => {
    const strangers = await Promise.all(fronts.map((front) => ask(front, 'sk-two')));
    expect(strangers).toEqual([401, 401]);
    const asks = Array.from({ length: ASKS }, (_, i) =>
      ask(fronts[i % 2] as TestCluster, 'sk-one'),
    );
    const statuses = await Promise.all(asks);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(ASKS - LIMIT);
    for (const { log } of fronts) expect(log).not.toContain('sk-one');
  });
});
