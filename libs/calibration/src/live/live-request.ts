import type { ServerAccess } from '@baton/loadgen';
import type { Span } from './load-plan';

/** The measurements of `--live`, and the load for the check. */
export interface LiveRequest {
  readonly server: ServerAccess;
  readonly ignoreEos: boolean;
  readonly requestTimeoutMs: number;
  /** Options of the cluster, by the names of the configuration. */
  readonly cluster: Readonly<Record<string, string | boolean>>;
  readonly configFile: string | undefined;
  readonly promptLengths: readonly number[];
  readonly batches: readonly number[];
  readonly contexts: readonly number[];
  readonly rounds: number;
  readonly savePoints: string | undefined;
  readonly load: LoadRequest;
  /** A share. The exit code is 1 when the error of a judged figure exceeds it. */
  readonly maxError: number | undefined;
}

export interface LoadRequest {
  /** Number of requests of the load. 0: no load. */
  readonly requests: number;
  readonly ratePerSecond: number | undefined;
  readonly clients: number | undefined;
  /** Undefined: the range of the grid's prompts. */
  readonly promptTokens: Span | undefined;
  readonly outputTokens: Span;
}
