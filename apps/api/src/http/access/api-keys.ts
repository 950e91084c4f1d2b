import { createHash, timingSafeEqual } from 'node:crypto';

/** The name of a caller in limits and logs: never the key itself. */
export type CallerId = string;

interface KnownKey {
  readonly digest: Buffer;
  readonly id: CallerId;
}

const SHOWN_DIGITS = 16;

/**
 * The keys that open the API. A key in a request is compared with every known one by digest and in
 * constant time, so that the time of a refusal reveals nothing.
 */
export class ApiKeys {
  private readonly known: readonly KnownKey[];

  constructor(keys: Iterable<string>) {
    this.known = [...new Set(keys)].map((key) => ({ digest: digestOf(key), id: callerIdOf(key) }));
  }

  get areNeeded(): boolean {
    return this.known.length > 0;
  }

  /** The owner of the key; undefined for an unknown key. */
  find(shown: string): CallerId | undefined {
    const digest = digestOf(shown);
    let found: CallerId | undefined;
    for (const key of this.known) if (timingSafeEqual(key.digest, digest)) found = key.id;
    return found;
  }
}

export function callerIdOf(key: string): CallerId {
  return digestOf(key).toString('hex').slice(0, SHOWN_DIGITS);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The key of a `Authorization: Bearer KEY` header; the scheme in any case, as vLLM reads it. */
export function bearerOf(authorization: string | undefined): string | undefined {
  const [scheme, key] = /^(\S+) (.*)$/s.exec(authorization ?? '')?.slice(1) ?? [];
  return scheme?.toLowerCase() === 'bearer' ? key : undefined;
}
