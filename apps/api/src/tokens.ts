import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';

/**
 * The module's dependencies from outside. Each name is the class by which Nest finds the dependency
 * and, as a type, the dependency itself, so that a constructor needs no `@Inject`.
 */
type Token<Given> = abstract new () => Given;

/** The configuration of the cluster. */
export const Config = class Config {} as unknown as Token<BatonConfig>;
export type Config = BatonConfig;

/** The connection to the other processes. */
export const Broker = class Broker {} as unknown as Token<Transport>;
export type Broker = Transport;

/** The log, under the name of the part that has it. */
export const Log = class Log {} as unknown as Token<Logger>;
export type Log = Logger;

/** The identity of this process among those of the API. */
export const ApiIdentity = class ApiIdentity {} as unknown as Token<ApiIdentity>;
export interface ApiIdentity {
  /**
   * New with each start of the process, so that an answer to an earlier run does not reach this
   * one.
   */
  readonly apiId: string;
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
}

/** Routes jobs into queues: `JobRouting`. */
export const ROUTING = Symbol('routing');
/** Calls the user's own policies: `PolicyWatch`. */
export const POLICY_WATCH = Symbol('policy-watch');
