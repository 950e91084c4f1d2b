/** Lock, stall and presence times, in wall milliseconds; they never scale with `speedup`. */
export interface TransportTimes {
  /** The length of a lock of a process that is on time. */
  readonly lockMs: number;
  /** Longest lock of a process that has been late. */
  readonly lockCeilingMs: number;
  readonly lockRenewMs: number;
  readonly stalledCheckMs: number;
  /**
   * For how long a consumer leaves a job to another one whose turn it is. An idle engine dates a
   * step back by more.
   */
  readonly deferenceMs: number;
  /** Awake ms in which an observed lateness decays by half. */
  readonly latenessHalfLifeMs: number;
  readonly tombstoneMs: number;
  readonly promptTtlMs: number;
  readonly callDeadlineMs: number;
  /** Awake ms without an answer after which the broker counts as not connected. */
  readonly silenceMs: number;
  /** Interval at which an engine renews the time to live of its own queue. */
  readonly queueLifeMs: number;
}

/**
 * BullMQ's own defaults need a minute to notice a killed worker; these bring a job back within 3 s.
 */
export const DEFAULT_TIMES: TransportTimes = {
  lockMs: 1_800,
  lockCeilingMs: 30_000,
  lockRenewMs: 450,
  stalledCheckMs: 400,
  deferenceMs: 15,
  latenessHalfLifeMs: 10_000,
  tombstoneMs: 60_000,
  promptTtlMs: 600_000,
  callDeadlineMs: 5_000,
  silenceMs: 700,
  queueLifeMs: 30_000,
};
