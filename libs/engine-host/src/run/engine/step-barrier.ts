import type { Alarm, LiveClock } from '@baton/clock';
import { Lockstep, type LockstepOptions, type LockstepRank } from '@baton/engine';
import type { Micros } from '@baton/kernel';

/** The loop of one rank, as the barrier drives it. */
export interface BarrierRank extends LockstepRank {
  /** The first instant from `fromUs` on at which something enters; undefined when nothing waits. */
  nextCauseUs(fromUs: Micros): Micros | undefined;
  /** A step has begun at this instant, with or without this rank, or could not begin. */
  onBegun(startUs: Micros): void;
  /**
   * Ends the step if this rank takes part in it. Returns the instant since which the rank is free,
   * which is later than the end when the process was stopped meanwhile.
   */
  endStep(endUs: Micros): Micros;
}

/**
 * Paces the data-parallel ranks of one engine that step together, on the wall clock: one alarm for
 * all of them, at the common boundary. Requests that arrive at a rank meanwhile wait there.
 */
export class StepBarrier {
  private readonly ranks: BarrierRank[] = [];
  /** Rings at the end of the step under way, or when one begins. */
  private alarm: Alarm | undefined;
  /** End of the last step: none starts before it. */
  private freeSinceUs: Micros = 0;
  private isWakeDue = false;

  private readonly lockstep: Lockstep;

  /**
   * @param clock shared by all ranks
   * @param size  ranks of the engine, >= 2
   */
  constructor(
    private readonly clock: LiveClock,
    size: number,
    options: LockstepOptions,
  ) {
    this.lockstep = new Lockstep(size, options);
  }

  add(rank: BarrierRank): void {
    this.ranks.push(rank);
    this.lockstep.add(rank);
  }

  /** Something waits at a rank: a step begins at the next common boundary. */
  wake(): void {
    if (this.alarm !== undefined || this.isWakeDue) return;
    this.isWakeDue = true;
    this.clock.wall.soon(() => {
      this.isWakeDue = false;
      if (this.alarm === undefined) this.beginAfter(this.nextCauseUs(this.freeSinceUs));
    });
  }

  /**
   * Begins the next step at the first boundary from that instant on, once the clock has reached it.
   */
  private beginAfter(fromUs: Micros | undefined): void {
    let causeUs = fromUs;
    while (causeUs !== undefined) {
      const startUs = this.lockstep.boundaryAfter(causeUs);
      if (startUs > this.clock.nowUs()) {
        this.ringAt(startUs, () => this.beginAt(startUs));
        return;
      }
      if (this.hasBegun(startUs)) return;
      causeUs = this.nextCauseUs(startUs);
    }
  }

  private beginAt(startUs: Micros): void {
    if (!this.hasBegun(startUs)) this.beginAfter(this.nextCauseUs(startUs));
  }

  /** Begins a step, unless no rank can run anything. */
  private hasBegun(startUs: Micros): boolean {
    this.freeSinceUs = startUs;
    const endUs = this.lockstep.begin(startUs);
    if (endUs !== undefined) this.ringAt(endUs, () => this.endStep(endUs));
    for (const rank of this.ranks) rank.onBegun(startUs);
    return endUs !== undefined;
  }

  private endStep(endUs: Micros): void {
    this.freeSinceUs = endUs;
    for (const rank of this.ranks) {
      this.freeSinceUs = Math.max(this.freeSinceUs, rank.endStep(endUs));
    }
    this.beginAfter(this.freeSinceUs);
  }

  private nextCauseUs(fromUs: Micros): Micros | undefined {
    let first: Micros | undefined;
    for (const rank of this.ranks) {
      const causeUs = rank.nextCauseUs(fromUs);
      if (causeUs !== undefined && (first === undefined || causeUs < first)) first = causeUs;
    }
    return first;
  }

  private ringAt(atUs: Micros, ring: () => void): void {
    this.alarm = this.clock.atSim(atUs, () => {
      this.alarm = undefined;
      ring();
    });
  }
}
