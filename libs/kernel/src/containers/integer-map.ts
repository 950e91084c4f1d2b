import { assert } from '../assert';

const EMPTY = -1;
const MIN_BITS = 5;
/** Blocks of 16 neighbouring keys are also neighbours in memory. */
const BLOCK_BITS = 4;
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;
/**
 * Fibonacci hashing: 2^32 divided by the golden ratio spreads neighbouring blocks and strides
 * alike.
 */
const SPREAD = 0x9e3779b1;

/**
 * A map from integers in [0, 2^31) whose entries come and go without leaving garbage: open
 * addressing with linear probing, at most half full; entries after a removed one move up. A `Map`
 * rehashes every few removals.
 */
export class IntegerMap<V extends NonNullable<unknown>> {
  private bits = MIN_BITS;
  private keys = new Int32Array(1 << MIN_BITS).fill(EMPTY);
  private slots: (V | undefined)[] = emptySlots(1 << MIN_BITS);
  private count = 0;
  /** The highest key set since the last clear; most lookups are for newer keys. */
  private highest = EMPTY;

  get size(): number {
    return this.count;
  }

  get(key: number): V | undefined {
    return key > this.highest ? undefined : this.slots[this.find(key)];
  }

  has(key: number): boolean {
    return this.get(key) !== undefined;
  }

  set(key: number, value: V): void {
    assert((key | 0) === key && key >= 0, 'a numeric id is an integer in [0, 2^31)');
    let at = this.find(key);
    if (this.keys[at] === EMPTY) {
      if (2 * this.count >= this.keys.length) {
        this.grow();
        at = this.find(key);
      }
      this.keys[at] = key;
      this.count += 1;
      if (key > this.highest) this.highest = key;
    }
    this.slots[at] = value;
  }

  delete(key: number): boolean {
    const at = this.find(key);
    if (this.slots[at] === undefined) return false;
    this.count -= 1;
    this.moveUp(at);
    return true;
  }

  clear(): void {
    this.highest = EMPTY;
    if (this.count === 0) return;
    this.keys.fill(EMPTY);
    this.slots.fill(undefined);
    this.count = 0;
  }

  /** In no order. */
  values(): V[] {
    return this.slots.filter((_slot, at) => this.keys[at] !== EMPTY) as V[];
  }

  /** The place of the key, or the empty place for it. */
  private find(key: number): number {
    const { keys } = this;
    const mask = keys.length - 1;
    let at = this.homeOf(key);
    while (keys[at] !== key && keys[at] !== EMPTY) at = (at + 1) & mask;
    return at;
  }

  private homeOf(key: number): number {
    const block = Math.imul(key >>> BLOCK_BITS, SPREAD) >>> (32 + BLOCK_BITS - this.bits);
    return (block << BLOCK_BITS) | (key & BLOCK_MASK);
  }

  /**
   * Fills the hole with the next entry that may move there, and so on until an empty place ends the
   * run.
   */
  private moveUp(from: number): void {
    const { keys, slots } = this;
    const mask = keys.length - 1;
    let hole = from;
    for (let at = (hole + 1) & mask; keys[at] !== EMPTY; at = (at + 1) & mask) {
      const displacement = (at - this.homeOf(keys[at]!)) & mask;
      if (displacement < ((at - hole) & mask)) continue;
      keys[hole] = keys[at]!;
      slots[hole] = slots[at];
      hole = at;
    }
    keys[hole] = EMPTY;
    slots[hole] = undefined;
  }

  private grow(): void {
    const { keys, slots } = this;
    this.bits += 1;
    this.keys = new Int32Array(2 * keys.length).fill(EMPTY);
    this.slots = emptySlots(2 * keys.length);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === EMPTY) continue;
      const at = this.find(keys[i]!);
      this.keys[at] = keys[i]!;
      this.slots[at] = slots[i];
    }
  }
}

function emptySlots<V>(length: number): (V | undefined)[] {
  return new Array<V | undefined>(length).fill(undefined);
}
