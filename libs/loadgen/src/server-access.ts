import type { Protocol } from './protocol/protocol';

/** The server to call, and how. */
export interface ServerAccess {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Prefix of every path, for servers behind a proxy; mostly empty. */
  readonly prefix: string;
  readonly endpoint: string;
  readonly backend: string;
  readonly protocol: Protocol;
  readonly model: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly readyTimeoutMs: number;
}
