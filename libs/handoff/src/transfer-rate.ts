/** One end of a transfer: its link, and how many transfers share it. */
export interface LinkLoad {
  readonly bytesPerSecond: number;
  /** Active transfers at this end; >= 1. */
  readonly active: number;
}

/** What one end gives each of its transfers, in bytes per second: C / n. */
export function linkShare({ bytesPerSecond, active }: LinkLoad): number {
  return bytesPerSecond / active;
}

/**
 * The rate of one transfer: min(C_src / n_src, C_dst / n_dst), in the unit of both shares. Each end divides its link equally among its
 * active transfers and the slower end decides; what it leaves unused at the other end is not given to others (no max-min filling), so a
 * rate follows from the two counts alone and live engines need to tell each other nothing else.
 */
export function transferRate(sourceShare: number, targetShare: number): number {
  return Math.min(sourceShare, targetShare);
}
