/** The resolution of gaps; the same as that of the histograms that read them. */
const GAP_BITS = 8;

/**
 * The number of times that each gap between tokens occurred. Tokens that arrive together have no
 * gap between them. The size of this table depends only on the number of different gaps, which are
 * rounded to 1/256 of their length.
 */
export class Gaps {
  private readonly counts = new Map<number, number>();

  /** @param us  of simulated time */
  add(us: number): void {
    const gapUs = coarse(Math.round(us));
    this.counts.set(gapUs, (this.counts.get(gapUs) ?? 0) + 1);
  }

  /** `[µs, times]`. */
  list(): [number, number][] {
    return [...this.counts];
  }
}

/** Rounded so that at most 8 binary digits count behind the first. */
function coarse(us: number): number {
  const grain = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, us))) - GAP_BITS);
  return Math.round(us / grain) * grain;
}
