/**
 * The share of one end for each of its `active` transfers, >= 1, in the unit of its capacity: C /
 * n.
 */
export function linkShare(capacity: number, active: number): number {
  return capacity / active;
}

/**
 * The rate of one transfer: min(C_src / n_src, C_dst / n_dst), in the unit of both shares. Each end
 * divides its link equally among its active transfers, and the slower end decides. Unused capacity
 * at the other end is not given to others (no max-min filling), so a rate depends only on the two
 * counts and live engines need to exchange nothing else.
 */
export function transferRate(sourceShare: number, targetShare: number): number {
  return Math.min(sourceShare, targetShare);
}
