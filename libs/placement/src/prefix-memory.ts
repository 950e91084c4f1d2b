import { FreeList, PrefixIndex } from '@baton/kvcache';

const SMALLEST = 1_024;

/** The blocks of one request's prompt: `count` chained hashes from `from` on. 0 ends them early. */
export interface BlockRange {
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

/**
 * What a router believes one engine to hold: the hashes of the blocks it sent there, the least recently used forgotten first, as many as
 * the engine has blocks. The engine evicts by its own lights, so this is an expectation, not a fact.
 *
 * A prompt is recorded from its tail to its head. So no block is forgotten before those that follow it, what is known of a prompt is always
 * a beginning of it, and a match is a search for its end: O(log blocks found).
 */
export class PrefixMemory {
  private index: PrefixIndex;
  /** All slots, empty ones first, then by use. */
  private order: FreeList;
  private slots: number;

  /** @param capacityBlocks >= 0; memory grows with use, up to about 32 bytes per block */
  constructor(private readonly capacityBlocks: number) {
    this.slots = Math.min(capacityBlocks, SMALLEST);
    this.index = new PrefixIndex(this.slots);
    this.order = new FreeList(this.slots);
  }

  /** Blocks remembered. */
  get size(): number {
    return this.index.size;
  }

  /** Leading blocks of the range that are remembered. */
  match(range: BlockRange): number {
    const { blockCount } = range;
    if (blockCount === 0 || !this.knows(range, 0)) return 0;
    let known = 1;
    let step = 1;
    while (known + step <= blockCount && this.knows(range, known + step - 1)) {
      known += step;
      step *= 2;
    }
    let unknown = Math.min(known + step, blockCount + 1);
    while (unknown - known > 1) {
      const middle = (known + unknown) >>> 1;
      if (this.knows(range, middle - 1)) known = middle;
      else unknown = middle;
    }
    return known;
  }

  /** The engine was sent these blocks. Of more than it has, the first are remembered. */
  record({ blockHashes, blockFrom, blockCount }: BlockRange): void {
    const most = Math.min(blockCount, this.capacityBlocks);
    let shared = 0;
    while (shared < most && blockHashes[blockFrom + shared] !== 0) shared++;
    for (let i = shared - 1; i >= 0; i--) this.use(blockHashes[blockFrom + i]!);
  }

  private knows({ blockHashes, blockFrom }: BlockRange, block: number): boolean {
    return this.index.find(blockHashes[blockFrom + block]!) >= 0;
  }

  private use(hash: number): void {
    const known = this.index.find(hash);
    if (known >= 0) {
      this.order.remove(known);
      this.order.append(known);
      return;
    }
    if (this.index.size === this.slots && this.slots < this.capacityBlocks) this.grow();
    const slot = this.order.removeFirst();
    if (this.index.hashOf(slot) !== 0) this.index.remove(slot);
    this.index.add(hash, slot);
    this.order.append(slot);
  }

  private grow(): void {
    const { index, order } = this;
    this.slots = Math.min(this.slots * 2, this.capacityBlocks);
    this.index = new PrefixIndex(this.slots);
    this.order = new FreeList(this.slots);
    for (const [slot, old] of order.toArray().entries()) {
      this.index.add(index.hashOf(old), slot);
      this.order.remove(slot);
      this.order.append(slot);
    }
  }
}
