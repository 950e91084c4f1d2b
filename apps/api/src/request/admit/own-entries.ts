import { type Stage, STAGES } from '@baton/contract';

type PerStage = Readonly<Record<Stage, number>>;

const NONE: PerStage = { prefill: 0, decode: 0, aggregated: 0 };

/**
 * Without asking, a process uses at most one in this many of the free places until they are counted
 * again. One process alone never exceeds the limit; of several, each but one may do so by this
 * share of it, while its entries are on the way to the broker.
 */
const PLACES_SHARED_BY = 32;
/** Counts that are older than this allow nothing: the broker may be silent. */
const FRESH_MS = 1_000;

/**
 * The waiting sequences of all processes, as the broker counted them last, and those that this
 * process has let in since by itself. Far from the limit it need not ask before each request.
 */
export class OwnEntries {
  private counted: PerStage = { ...NONE };
  private countedMs = -Infinity;
  /** All that this process has let in by itself, and how much of it the counts have in them. */
  private readonly entered: Record<Stage, number> = { ...NONE };
  private readonly included: Record<Stage, number> = { ...NONE };

  /** Whether `count` more fit in any case; then they are noted as let in. */
  tryEnter(stage: Stage, count: number, limit: number): boolean {
    if (performance.now() - this.countedMs > FRESH_MS) return false;
    const own = this.entered[stage] + count - this.included[stage];
    if (this.counted[stage] + own * PLACES_SHARED_BY > limit) return false;
    this.entered[stage] += count;
    return true;
  }

  /** What counts have in them that are asked for at this moment, after all that was let in. */
  mark(): PerStage {
    return { ...this.entered };
  }

  /** @param marked  the mark of these counts; absent where they may lack some of what was let in */
  read(counted: PerStage, marked?: PerStage): void {
    this.counted = counted;
    this.countedMs = performance.now();
    if (marked === undefined) return;
    // Answers may overlap, so each mark only raises what is included.
    for (const stage of STAGES)
      this.included[stage] = Math.max(this.included[stage], marked[stage]);
  }
}
