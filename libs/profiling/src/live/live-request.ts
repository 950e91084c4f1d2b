import type { ServerAccess } from '@baton/loadgen';
import type { Span } from './load-plan';

/** What `--live` measures, and the load that it is tried on. */
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
  /** A share; exit code 1 when a figure of the load is further off. */
  readonly maxError: number | undefined;
}

export interface LoadRequest {
  /** 0: none is sent. */
  readonly requests: number;
  readonly ratePerSecond: number | undefined;
  readonly clients: number | undefined;
  /** Undefined: as long as the prompts of the grid. */
  readonly promptTokens: Span | undefined;
  readonly outputTokens: Span;
}
