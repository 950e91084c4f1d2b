import { mix } from '@baton/kernel';

const FIRST_SLOTS = 1 << 12;
/** Maximum number of table entries per id seen so far. */
const SPARSENESS = 8;
const SALT = 0x6964;

/**
 * Gives different ids the numbers 1, 2, 3 … in the order of their first appearance. Ids that are
 * small relative to the number of ids seen (such as Mooncake's, which are already dense) use a
 * table. All other ids use a hash table of 12 bytes per slot.
 */
export class DenseIds {
  private table = new Int32Array(FIRST_SLOTS);
  private keys = new Float64Array(FIRST_SLOTS);
  private numbers = new Int32Array(FIRST_SLOTS);
  private mask = FIRST_SLOTS - 1;
  private hashed = 0;
  size = 0;

  /** @param id an integer in [0, 2^53) */
  of(id: number): number {
    if (id >= this.table.length && id < this.size * SPARSENESS) this.growTable(id);
    const isSmall = id < this.table.length;
    const tabled = isSmall ? this.table[id]! : 0;
    if (tabled !== 0) return tabled;
    if (isSmall && this.hashed === 0) return (this.table[id] = ++this.size);
    return this.hashedNumber(id);
  }

  /** The ids in the order of their numbers. Undefined where each id equals its number. */
  names(): Float64Array | undefined {
    const { table, keys, numbers } = this;
    const names = new Float64Array(this.size);
    for (let id = 0; id < table.length; id++) if (table[id] !== 0) names[table[id]! - 1] = id;
    for (let i = 0; i < keys.length; i++) {
      if (numbers[i] !== 0) names[numbers[i]! - 1] = keys[i]!;
    }
    return names.every((id, i) => id === i + 1) ? undefined : names;
  }

  private hashedNumber(id: number): number {
    const slot = this.slotOf(id);
    if (this.numbers[slot] !== 0) return this.numbers[slot]!;
    const number = ++this.size;
    if (id < this.table.length) return (this.table[id] = number);
    this.keys[slot] = id;
    this.numbers[slot] = number;
    this.hashed += 1;
    if (this.hashed * 2 > this.mask) this.growSlots();
    return number;
  }

  /** The slot that holds the id, or the free slot for it. */
  private slotOf(id: number): number {
    let slot = mix(id, SALT) & this.mask;
    while (this.numbers[slot] !== 0 && this.keys[slot] !== id) slot = (slot + 1) & this.mask;
    return slot;
  }

  private growTable(id: number): void {
    const grown = new Int32Array(2 ** Math.ceil(Math.log2(id + 1)));
    grown.set(this.table);
    this.table = grown;
  }

  private growSlots(): void {
    const { keys, numbers } = this;
    this.keys = new Float64Array(keys.length * 2);
    this.numbers = new Int32Array(keys.length * 2);
    this.mask = this.keys.length - 1;
    for (let i = 0; i < keys.length; i++) {
      if (numbers[i] === 0) continue;
      const slot = this.slotOf(keys[i]!);
      this.keys[slot] = keys[i]!;
      this.numbers[slot] = numbers[i]!;
    }
  }
}
