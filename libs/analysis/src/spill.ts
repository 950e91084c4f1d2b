import { Fifo } from '@baton/kernel';

/** Keeps bytes outside memory. */
export interface ByteStore {
  /** Writes bytes to a place, or behind all others when it is undefined. Returns their place. */
  write(bytes: Uint8Array, place: number | undefined): number;
  /** Fills `bytes` from a place. */
  read(bytes: Uint8Array, place: number): void;
}

/** A column whose blocks can leave memory. */
export interface SpillingColumn {
  /** Writes a block to the store and drops it. */
  evict(block: number): void;
}

/** Blocks in memory: 16 MiB. Requests under way and passes over a log use the newest. */
const MOST_BLOCKS = 1_024;

/** Holds the newest blocks of the columns of a log in memory, and the others in a store. */
export class Spill {
  private readonly held = new Fifo<{ column: SpillingColumn; block: number }>();

  constructor(
    readonly store: ByteStore,
    private readonly mostBlocks = MOST_BLOCKS,
  ) {}

  /** A block has come into memory. Others leave when there are too many. */
  hold(column: SpillingColumn, block: number): void {
    this.held.push({ column, block });
    if (this.held.length <= this.mostBlocks) return;
    const oldest = this.held.shift()!;
    oldest.column.evict(oldest.block);
  }
}
