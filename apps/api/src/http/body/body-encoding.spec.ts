import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bodyDecoder } from './body-encoding';

const BYTES = gzipSync('{}');
const DECODED = 2;
const WAITING = 32;

describe('compressed bodies', () => {
  const decode = bodyDecoder('gzip')!;
  const bounds = { maxBytes: 1_000 };

  it('beyond those that may wait get 503 with Retry-After', async () => {
    const all = Array.from({ length: DECODED + WAITING }, () => decode(BYTES, bounds));
    const refusal = { code: 'threads_busy', retryAfterSeconds: 10 };
    await expect(decode(BYTES, bounds)).rejects.toMatchObject(refusal);
    for (const body of await Promise.all(all)) expect(String(body)).toBe('{}');
    expect(String(await decode(BYTES, bounds))).toBe('{}');
  });

  it('leave their place when their client has gone', async () => {
    const gone = new AbortController();
    const first = Array.from({ length: DECODED + WAITING - 1 }, () => decode(BYTES, bounds));
    const left = decode(BYTES, { ...bounds, signal: gone.signal });
    gone.abort(new Error('gone'));
    const next = decode(BYTES, bounds);
    await expect(left).rejects.toThrow('gone');
    expect(String(await next)).toBe('{}');
    await Promise.all(first);
  });
});
