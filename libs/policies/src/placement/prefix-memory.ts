import { RecentContents } from '@baton/kernel';

/** The blocks of one request's prompt: `count` chained hashes from `from` on. 0 ends them early. */
export interface BlockRange {
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

/**
 * Blocks that the prompt fills, of those that are listed. The others continue in the output, which
 * no policy may know.
 */
export function promptBlocks(promptTokens: number, blockTokens: number, listed: number): number {
  return Math.min(listed, Math.floor(promptTokens / blockTokens));
}

/**
 * A router's estimate of one engine's cache: the hashes of the blocks that it sent there, at most
 * the engine's number of blocks, least recently used dropped first. The engine evicts by its own
 * rules, so this is an estimate.
 *
 * A prompt is recorded from its tail to its head. So no block is dropped before those that follow
 * it, the recorded part of a prompt is always a prefix of it, and a match is a search for its end:
 * O(log blocks found).
 */
export class PrefixMemory {
  private readonly contents: RecentContents;

  /** @param capacityBlocks >= 0; memory grows with use, up to about 32 bytes per block */
  constructor(private readonly capacityBlocks: number) {
    this.contents = new RecentContents(capacityBlocks);
  }

  /** Blocks recorded. */
  get size(): number {
    return this.contents.size;
  }

  /** Leading blocks of the range that are recorded. */
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

  /**
   * Records that these blocks were sent to the engine; if there are more than it has, only the
   * first ones.
   */
  record({ blockHashes, blockFrom, blockCount }: BlockRange): void {
    const most = Math.min(blockCount, this.capacityBlocks);
    let shared = 0;
    while (shared < most && blockHashes[blockFrom + shared] !== 0) shared++;
    for (let i = shared - 1; i >= 0; i--) this.contents.use(blockHashes[blockFrom + i]!);
  }

  private knows({ blockHashes, blockFrom }: BlockRange, block: number): boolean {
    return this.contents.has(blockHashes[blockFrom + block]!);
  }
}
