import type { Micros } from '@baton/kernel';
import { fetchPays } from './fetch-pays';
import type { KvPoolMember } from './member';
import { PoolFind } from './pool-find';

/** The leading blocks of a sequence, by the chained hashes of their content. */
export interface NamedBlocks {
  readonly hashes: ArrayLike<number>;
  readonly hashFrom: number;
  readonly hashCount: number;
}

export interface ReaderCosts {
  readonly blockSize: number;
  /** Time to load this many blocks from the memory of the engine's own node. */
  readonly loadUs: (blocks: number) => Micros;
  /** Time to compute a prompt up to `tokens` after `cached` ones. */
  readonly computeUs: (tokens: number, cached: number) => Micros;
}

/** The blocks that an engine can use from the pool for one prompt. */
export interface PoolWish {
  /** Leading blocks that are on the GPUs already. */
  readonly held: number;
  /** Most leading blocks that the sequence can use. */
  readonly most: number;
  /** Tokens that have to be in KV. */
  readonly tokens: number;
}

/**
 * Decides what one engine reads from the pool after the blocks on its GPUs: always from the memory
 * of its own node, and from other nodes when fetching is faster than computing.
 */
export class PoolReader {
  /** The blocks that the last `match` decided to read. */
  readonly found = new PoolFind();

  constructor(
    private readonly member: KvPoolMember,
    private readonly costs: ReaderCosts,
  ) {}

  /** Finds blocks only in the memory of the engine's own node; returns their number. */
  matchOwn(list: NamedBlocks, wish: PoolWish): number {
    this.find(list, wish);
    this.found.keepLeading();
    return this.found.length;
  }

  /** Finds the blocks that the pool could send now; returns the number to read. */
  match(list: NamedBlocks, wish: PoolWish, nowUs: Micros): number {
    const { found } = this;
    this.find(list, wish);
    if (found.remote > 0 && !this.isFetchCheaper(wish, nowUs)) found.decline();
    return found.length;
  }

  /** Called when a sequence starts with the found blocks. */
  take(): void {
    if (this.found.isDeclined) this.member.decline();
  }

  /** Reads the blocks found on other nodes; returns the time that this takes. */
  fetch(nowUs: Micros): Micros {
    return this.member.fetch(this.found, nowUs);
  }

  /** Offers the first `count` blocks, which are on the GPUs and full, to the pool. */
  keep({ hashes, hashFrom, hashCount }: NamedBlocks, count: number): void {
    this.member.keep(hashes, { from: hashFrom, count: Math.min(count, hashCount) });
  }

  /** Clears the memory of this node. */
  clear(): void {
    this.member.clear();
  }

  private find({ hashes, hashFrom, hashCount }: NamedBlocks, { held, most }: PoolWish): void {
    const count = Math.max(0, Math.min(most, hashCount) - held);
    this.member.find(hashes, { from: hashFrom + held, count }, this.found);
  }

  private isFetchCheaper({ held, tokens }: PoolWish, nowUs: Micros): boolean {
    const { found, member } = this;
    const { blockSize, loadUs, computeUs } = this.costs;
    const choice = {
      ownTokens: (held + found.leading) * blockSize,
      poolTokens: (held + found.length) * blockSize,
      transferUs: member.fetchUs(found, nowUs) + loadUs(found.local - found.leading),
      computeUs: (cached: number) => computeUs(tokens, cached),
    };
    return fetchPays(choice, member.terms.balancingThreshold);
  }
}
