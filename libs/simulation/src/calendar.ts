import { assert, type Micros, Tournament } from '@baton/kernel';

/**
 * The kinds of entries due at one instant, in the order in which they are handled. Steps end before
 * anything that may join the next one. Arrivals come after transfers and leases, because earlier
 * requests go first. Within one kind, the lower slot comes first; slots of engines are in the order
 * of joining.
 */
export const TIE = {
  stepEnd: 0,
  scaling: 1,
  transfer: 2,
  lease: 3,
  arrival: 4,
} as const;

const TIES = 8;

/**
 * The next due instant of each slot, in a tournament tree, which returns the next slot in constant
 * time and allocates nothing. A slot has one entry; setting it again replaces it. Batches form at
 * the end of an instant, when no entry of it is left, so everything that it brought can join them.
 */
export class Calendar {
  /** Instant times `TIES` plus the tie order: one exact number up to 2^50 µs (35 years). */
  private readonly tournament: Tournament;
  /** Slots whose batch may form at the end of this instant, the highest first. */
  private readonly forming: number[] = [];

  constructor(slots: number) {
    assert(slots >= 1, 'a calendar has slots');
    this.tournament = new Tournament(slots);
  }

  /** The slot that is due first. */
  get next(): number {
    return this.tournament.first;
  }

  /** Time of the first slot; Infinity without slots. */
  get nextUs(): Micros {
    return Math.floor(this.tournament.firstKey / TIES);
  }

  dueUs(slot: number): Micros {
    return Math.floor(this.tournament.keyOf(slot) / TIES);
  }

  set(slot: number, dueUs: Micros, tie: number): void {
    this.tournament.set(slot, dueUs * TIES + tie);
  }

  clear(slot: number): void {
    this.tournament.set(slot, Infinity);
  }

  /** True when nothing is due any more. */
  get isEmpty(): boolean {
    return this.forming.length === 0 && this.nextUs === Infinity;
  }

  /** Calls for a batch of the slot at the end of this instant. */
  form(slot: number): void {
    const { forming } = this;
    if (forming.includes(slot)) return;
    let at = forming.push(slot) - 1;
    for (; at > 0 && forming[at - 1]! < slot; at--) forming[at] = forming[at - 1]!;
    forming[at] = slot;
  }

  /**
   * The lowest slot whose batch forms now; undefined when there is none, or when an entry of this
   * instant is left.
   */
  nextForming(nowUs: Micros): number | undefined {
    return this.nextUs > nowUs ? this.forming.pop() : undefined;
  }
}
