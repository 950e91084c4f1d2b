/** One end of a transfer: its link, and how many transfers share it. */
export interface LinkShare {
  readonly bytesPerSecond: number;
  /** Active transfers at this end, this one included; >= 1. */
  readonly active: number;
}

/**
 * The rate of one transfer in bytes per second: min(C_src / n_src, C_dst / n_dst). Each end divides its link equally among its active
 * transfers and the slower end decides; what it leaves unused at the other end is not given to others (no max-min filling), so a rate
 * follows from the two counts alone and live engines need to tell each other nothing else.
 */
export function transferRate(source: LinkShare, target: LinkShare): number {
  return Math.min(source.bytesPerSecond / source.active, target.bytesPerSecond / target.active);
}
