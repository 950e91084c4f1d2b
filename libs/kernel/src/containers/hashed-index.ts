const TWO_32 = 2 ** 32;
const GOLDEN = 0x9e37_79b1;

/**
 * Finds a number by its hash: an open-addressed table of numbers and their hashes, one number per
 * hash. It owns only this mapping.
 */
export class HashedIndex {
  /** Hashes that can be found. */
  size = 0;
  /** Number + 1, 0 = empty slot. At most half full, so probes stay short. */
  private readonly slots: Int32Array;
  private readonly hashes: Float64Array;
  private readonly mask: number;
  private readonly shift: number;

  /** @param numbers they are 0..numbers-1 */
  constructor(numbers: number) {
    const bits = Math.max(4, Math.ceil(Math.log2(numbers * 2)));
    this.slots = new Int32Array(2 ** bits);
    this.hashes = new Float64Array(numbers);
    this.mask = 2 ** bits - 1;
    this.shift = 32 - bits;
  }

  /** The hash under which the number is found, 0 when it is not in the index. */
  hashOf(number: number): number {
    return this.hashes[number]!;
  }

  /** The number of this hash, -1 when there is none. */
  find(hash: number): number {
    return this.slots[this.slotOf(hash)]! - 1;
  }

  /**
   * Adds the number under this hash; false, with nothing changed, when another number already has
   * it.
   */
  add(hash: number, number: number): boolean {
    const slot = this.slotOf(hash);
    if (this.slots[slot] !== 0) return false;
    this.slots[slot] = number + 1;
    this.hashes[number] = hash;
    this.size++;
    return true;
  }

  /**
   * Removes a number, which must be present, and closes the gap, so that no probe ends too early.
   */
  remove(number: number): void {
    const { slots, mask } = this;
    let gap = this.slotOf(this.hashes[number]!);
    this.hashes[number] = 0;
    this.size--;
    for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = this.homeOf(this.hashes[slots[slot]! - 1]!);
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      slots[gap] = slots[slot]!;
      gap = slot;
    }
    slots[gap] = 0;
  }

  /** The slot of the hash, or the empty slot for it. */
  private slotOf(hash: number): number {
    const { slots, hashes, mask } = this;
    let slot = this.homeOf(hash);
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (hashes[entry - 1] === hash) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Fibonacci hashing over both halves, since a trace may use small dense integers as hashes. */
  private homeOf(hash: number): number {
    const folded = Math.imul((hash / TWO_32) | 0, 0x85eb_ca6b) ^ (hash | 0);
    return Math.imul(folded, GOLDEN) >>> this.shift;
  }
}
