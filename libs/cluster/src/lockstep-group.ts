import { Lockstep, type LockstepOptions } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import type { VirtualEngine } from './virtual-engine';

/**
 * The data-parallel ranks of one engine that step together, on the virtual clock. They share the
 * calendar entry of the first rank.
 */
export class LockstepGroup {
  readonly ranks: VirtualEngine[] = [];
  private readonly lockstep: Lockstep;
  private stepping = false;

  constructor(
    size: number,
    options: LockstepOptions,
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

  /** Rows in all ranks; an engine that already leaves counts as empty. */
  get load(): number {
    if (this.ranks.some(({ state }) => state === 'draining' || state === 'gone')) return -1;
    return this.ranks.reduce((sum, { load }) => sum + load, 0);
  }

  add(rank: VirtualEngine): void {
    this.ranks.push(rank);
    this.lockstep.add(rank);
  }

  /**
   * Call it when something may have become ready to run. A step begins at the next common boundary.
   */
  wake(nowUs: Micros): void {
    if (this.stepping) return;
    this.calendar.set(this.slot, this.lockstep.boundaryAfter(nowUs), TIE.stepBegin);
  }

  begin(nowUs: Micros): void {
    const endUs = this.lockstep.begin(nowUs);
    this.stepping = endUs !== undefined;
    if (endUs === undefined) this.calendar.clear(this.slot);
    else this.calendar.set(this.slot, endUs, TIE.stepEnd);
  }

  /** The step has ended for every rank; the next one is due. */
  endStep(nowUs: Micros): void {
    this.stepping = false;
    this.calendar.set(this.slot, nowUs, TIE.stepBegin);
  }
}
