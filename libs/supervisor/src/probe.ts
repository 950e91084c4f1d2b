import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import type { BatonConfig } from '@baton/config';

const TIMEOUT_MS = 2_000;
/** The value of `ssl_cert_reqs` that requires a client certificate, which this program lacks. */
const CERT_REQUIRED = 2;

/**
 * Whether the API at `baseUrl` reports that it serves requests. Its certificate need not be trusted
 * by this machine. When clients must show a certificate the probe is impossible, and the API counts
 * as serving.
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
