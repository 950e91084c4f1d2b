import { Lockstep, type LockstepOptions } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import { type Calendar, TIE } from '../calendar';
import type { VirtualEngine } from '../virtual-engine';

/**
 * The data-parallel ranks of one engine that step together, on the virtual clock. They share the
 * calendar entry of the first rank.
 */
export class LockstepGroup {
  readonly ranks: VirtualEngine[] = [];
  private lockstep: Lockstep;
  private stepping = false;

  constructor(
    private readonly size: number,
    private readonly options: LockstepOptions,
    private readonly calendar: Calendar,
  ) {
    this.lockstep = new Lockstep(size, options);
  }

  get isStepping(): boolean {
    return this.stepping;
  }

  get slot(): number {
    return this.ranks[0]!.index;
  }

  add(rank: VirtualEngine): void {
    this.ranks.push(rank);
    this.lockstep.add(rank);
  }

  /** The ranks of a new engine take the place of those that left; they have had no steps yet. */
  startAgain(): void {
    this.lockstep = new Lockstep(this.size, this.options);
    for (const rank of this.ranks) this.lockstep.add(rank);
  }

  /**
   * Call it when something may have become ready to run. A step begins at the next common boundary.
   */
  wake(nowUs: Micros): void {
    if (this.stepping) return;
    const boundaryUs = this.lockstep.boundaryAfter(nowUs);
    if (boundaryUs > nowUs) this.calendar.set(this.slot, boundaryUs, TIE.stepEnd);
    else this.calendar.form(this.slot);
  }

  begin(nowUs: Micros): void {
    const endUs = this.lockstep.begin(nowUs);
    this.stepping = endUs !== undefined;
    if (endUs !== undefined) this.calendar.set(this.slot, endUs, TIE.stepEnd);
  }

  /** The step has ended for every rank. */
  endStep(): void {
    this.stepping = false;
  }
}
