import { assert, type Micros } from '@baton/kernel';

/**
 * What can be due at one instant, in the order in which it is handled. Steps end before anything
 * that may join the next one, and batches form last, so whatever happens at an instant is in the
 * batch that begins there. Arrivals come behind transfers and leases: earlier requests go first.
 * Within one of these, the lower slot comes first (engines in the order in which they joined).
 */
export const TIE = {
  stepEnd: 0,
  scaling: 1,
  transfer: 2,
  lease: 3,
  arrival: 4,
  stepBegin: 5,
} as const;

const TIES = 8;

/**
 * When each of a fixed number of slots is due next: a tournament tree, so moving one slot costs
 * log2(slots) comparisons, the next one is known at once, and nothing is ever allocated. A slot has
 * one entry; setting it again replaces it.
 */
export class Calendar {
  /** Instant times `TIES` plus the tie order: one exact number up to 2^50 µs (35 years). */
  private readonly keys: Float64Array;
  /** Node i has the children 2i and 2i + 1; the leaves hold the slots. */
  private readonly winners: Int32Array;
  private readonly leaves: number;

  constructor(slots: number) {
    assert(slots >= 1, 'a calendar has slots');
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(2, slots)));
    this.keys = new Float64Array(this.leaves).fill(Infinity);
    this.winners = new Int32Array(2 * this.leaves);
    for (let leaf = 0; leaf < this.leaves; leaf++) this.winners[this.leaves + leaf] = leaf;
    for (let node = this.leaves - 1; node >= 1; node--)
      this.winners[node] = this.winners[2 * node]!;
  }

  /** The slot that is due first. */
  get next(): number {
    return this.winners[1]!;
  }

  isNext(slot: number): boolean {
    return this.winners[1] === slot;
  }

  /** When it is due; Infinity when nothing is. */
  get nextUs(): Micros {
    return Math.floor(this.keys[this.winners[1]!]! / TIES);
  }

  dueUs(slot: number): Micros {
    return Math.floor(this.keys[slot]! / TIES);
  }

  isSet(slot: number): boolean {
    return this.keys[slot] !== Infinity;
  }

  set(slot: number, dueUs: Micros, tie: number): void {
    this.move(slot, dueUs * TIES + tie);
  }

  clear(slot: number): void {
    if (this.keys[slot] !== Infinity) this.move(slot, Infinity);
  }

  private move(slot: number, key: number): void {
    const { keys, winners } = this;
    if (keys[slot] === key) return;
    keys[slot] = key;
    for (let node = (this.leaves + slot) >> 1; node >= 1; node >>= 1) {
      const left = winners[2 * node]!;
      const right = winners[2 * node + 1]!;
      winners[node] = keys[right]! < keys[left]! ? right : left;
    }
  }
}
