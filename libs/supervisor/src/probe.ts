import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import type { BatonConfig } from '@baton/config';

const TIMEOUT_MS = 2_000;
/** `ssl_cert_reqs` that demands a client's certificate, which this program has not. */
const CERT_REQUIRED = 2;

/**
 * Whether the API at `baseUrl` says that it would serve requests. Its certificate need not be one
 * that this machine trusts. Where clients must show one of their own the question cannot be asked,
 * and the API counts as serving.
 */
export function isServing(config: BatonConfig, baseUrl: string): Promise<boolean> {
  const isSecure = config.sslCertfile !== undefined;
  if (isSecure && config.sslCertReqs === CERT_REQUIRED) return Promise.resolve(true);
  const options = { timeout: TIMEOUT_MS, rejectUnauthorized: false, agent: false } as const;
  const get = isSecure ? getSecure : getPlain;
  return new Promise((resolve) => {
    const request = get(`${baseUrl}/health/ready`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
