import type { Micros } from '@baton/kernel';
import type { Spill, SpillingColumn } from './spill';

/** The value for an instant that has not occurred. */
export const NEVER = -1;

const BLOCK_BITS = 12;
/** Rows of a block. */
export const BLOCK_ROWS = 1 << BLOCK_BITS;
const IN_BLOCK = BLOCK_ROWS - 1;
/** Offsets of a block count from a multiple of it, µs: 36 minutes. */
const GRAIN_US = 2 ** 31;
/** The offset of `NEVER`. */
const NO_OFFSET = 2 ** 32 - 1;

/**
 * One instant per row, µs, `NEVER` at first: a column in blocks of 4,096 rows. A row takes 4 bytes,
 * because a block has offsets from an instant less than 36 minutes before its first value. It has
 * 64-bit numbers from the first value on that is no integer, or earlier, or 71 minutes later. A
 * block without instants takes no memory.
 */
export class Instants implements Iterable<Micros>, SpillingColumn {
  private readonly baseUs: number[] = [];
  private readonly offsets: (Uint32Array | undefined)[];
  /** The blocks whose values have no offsets. */
  private readonly wide: (Float64Array | undefined)[] = [];
  /** The copies of blocks in the store. */
  private readonly stored: ({ place: number; isWide: boolean } | undefined)[] = [];
  /** 1: the block differs from its copy. */
  private readonly isChanged: Uint8Array;

  /** @param spill  Undefined: all blocks stay in memory. */
  constructor(
    readonly length: number,
    private readonly spill?: Spill,
  ) {
    const blocks = Math.ceil(length / BLOCK_ROWS);
    this.offsets = new Array<undefined>(blocks).fill(undefined);
    this.isChanged = new Uint8Array(blocks);
  }

  at(row: number): Micros {
    const block = row >>> BLOCK_BITS;
    const offsets = this.offsets[block] ?? this.recall(block);
    if (offsets === undefined) return this.wide[block]?.[row & IN_BLOCK] ?? NEVER;
    const offset = offsets[row & IN_BLOCK]!;
    return offset === NO_OFFSET ? NEVER : this.baseUs[block]! + offset;
  }

  set(row: number, us: Micros): void {
    const block = row >>> BLOCK_BITS;
    const offsets = this.offsets[block] ?? this.recall(block) ?? this.begin(block, us);
    this.isChanged[block] = 1;
    if (offsets === undefined) {
      this.wide[block]![row & IN_BLOCK] = us;
      return;
    }
    const offset = us === NEVER ? NO_OFFSET : us - this.baseUs[block]!;
    if (offset >>> 0 !== offset || (offset === NO_OFFSET && us !== NEVER)) {
      this.widen(block, offsets)[row & IN_BLOCK] = us;
    } else offsets[row & IN_BLOCK] = offset;
  }

  *[Symbol.iterator](): Generator<Micros, undefined> {
    for (let row = 0; row < this.length; row++) yield this.at(row);
  }

  evict(block: number): void {
    const values = this.offsets[block] ?? this.wide[block]!;
    if (this.isChanged[block] === 1) {
      const isWide = values instanceof Float64Array;
      const before = this.stored[block];
      const place = before?.isWide === isWide ? before.place : undefined;
      this.stored[block] = { place: this.spill!.store.write(bytesOf(values), place), isWide };
      this.isChanged[block] = 0;
    }
    this.offsets[block] = undefined;
    this.wide[block] = undefined;
  }

  /** Reads the block from the store, if it lies only there. Returns its offsets, if it has them. */
  private recall(block: number): Uint32Array | undefined {
    const stored = this.stored[block];
    if (stored === undefined || this.wide[block] !== undefined) return undefined;
    const values = stored.isWide ? new Float64Array(BLOCK_ROWS) : new Uint32Array(BLOCK_ROWS);
    this.spill!.store.read(bytesOf(values), stored.place);
    this.spill!.hold(this, block);
    if (values instanceof Uint32Array) return (this.offsets[block] = values);
    this.wide[block] = values;
    return undefined;
  }

  /** Makes the block, unless it has 64-bit numbers. */
  private begin(block: number, us: Micros): Uint32Array | undefined {
    if (this.wide[block] !== undefined) return undefined;
    this.baseUs[block] = Math.max(0, Math.floor(us / GRAIN_US) * GRAIN_US);
    this.spill?.hold(this, block);
    return (this.offsets[block] = new Uint32Array(BLOCK_ROWS).fill(NO_OFFSET));
  }

  private widen(block: number, offsets: Uint32Array): Float64Array {
    const baseUs = this.baseUs[block]!;
    const wide = Float64Array.from(offsets, (offset) =>
      offset === NO_OFFSET ? NEVER : baseUs + offset,
    );
    this.wide[block] = wide;
    this.offsets[block] = undefined;
    return wide;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
