/** The module's dependencies from outside, by injection token. */
export const TRANSPORT = Symbol('transport');
export const CONFIG = Symbol('config');
export const LOGGER = Symbol('logger');
/** Routes jobs into queues: `JobRouting`. */
export const ROUTING = Symbol('routing');
/** Calls the user's own policies: `PolicyWatch`. */
export const POLICY_WATCH = Symbol('policy-watch');
export const API_IDENTITY = Symbol('api-identity');

export interface ApiIdentity {
  /**
   * New with each start of the process, so that an answer to an earlier run does not reach this
   * one.
   */
  readonly apiId: string;
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
}
