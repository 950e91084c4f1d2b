import type { Protocol } from './protocol/protocol';

/** The address of the server. */
export interface ServerAccess {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Prefix of every path, for servers behind a proxy. Mostly empty. */
  readonly prefix: string;
  readonly endpoint: string;
  readonly backend: string;
  readonly protocol: Protocol;
  readonly model: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly readyTimeoutMs: number;
}
