import { type Stage, STAGES } from '@baton/contract';

type PerStage = Readonly<Record<Stage, number>>;

const NONE: PerStage = { prefill: 0, decode: 0, aggregated: 0 };

/**
 * A process enters requests without a query to the broker, at most 1/32 of the free places until
 * the next count. A single process never exceeds the limit. Among N processes, N − 1 may each
 * exceed it by this share while their entries are on the way to the broker.
 */
const PLACES_SHARED_BY = 32;
/** Greatest age of counts that allow an entry. Older counts mean that the broker is silent. */
const FRESH_MS = 1_000;

/**
 * The waiting sequences of all processes at the broker's last count, and those that this process
 * has admitted without the broker since. Far from the limit it decides without the broker.
 */
export class OwnEntries {
  private counted: PerStage = { ...NONE };
  private countedMs = -Infinity;
  /**
   * All entries that this process has admitted without the broker, and the number of them that the
   * counts include.
   */
  private readonly entered: Record<Stage, number> = { ...NONE };
  private readonly included: Record<Stage, number> = { ...NONE };

  /** True when `count` more fit in any case; then they are recorded as admitted. */
  tryEnter(stage: Stage, count: number, limit: number): boolean {
    if (performance.now() - this.countedMs > FRESH_MS) return false;
    const own = this.entered[stage] + count - this.included[stage];
    if (this.counted[stage] + own * PLACES_SHARED_BY > limit) return false;
    this.entered[stage] += count;
    return true;
  }

  /** The entries that counts requested at this moment will include. */
  mark(): PerStage {
    return { ...this.entered };
  }

  /** @param marked the mark of these counts; absent when they may lack some entries */
  read(counted: PerStage, marked?: PerStage): void {
    this.counted = counted;
    this.countedMs = performance.now();
    if (marked === undefined) return;
    // Answers may overlap, so each mark only raises what is included.
    for (const stage of STAGES)
      this.included[stage] = Math.max(this.included[stage], marked[stage]);
  }
}
