import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '@baton/config';

interface KnownKey {
  readonly digest: Buffer;
  readonly tenant: string;
}

/**
 * The keys that open the API. The key of a request is compared with every known key by digest and
 * in constant time, so that the time of a refusal reveals nothing.
 */
export class ApiKeys {
  private readonly known: readonly KnownKey[];

  constructor(keys: readonly ApiKey[]) {
    this.known = keys.map(({ key, tenant }) => ({ digest: digestOf(key), tenant }));
  }

  get areNeeded(): boolean {
    return this.known.length > 0;
  }

  /** The tenant that the key belongs to; undefined for an unknown key. */
  find(shown: string): string | undefined {
    const digest = digestOf(shown);
    let found: string | undefined;
    for (const key of this.known) if (timingSafeEqual(key.digest, digest)) found = key.tenant;
    return found;
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The key of a `Authorization: Bearer KEY` header; the scheme in any case, as vLLM reads it. */
export function bearerOf(authorization: string | undefined): string | undefined {
  const [scheme, key] = /^(\S+) (.*)$/s.exec(authorization ?? '')?.slice(1) ?? [];
  return scheme?.toLowerCase() === 'bearer' ? key : undefined;
}
