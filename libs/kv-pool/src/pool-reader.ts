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
  /** Time to load so many blocks from the memory of the own node. */
  readonly loadUs: (blocks: number) => Micros;
  /** Time to compute a prompt up to `tokens` behind `cached` ones. */
  readonly computeUs: (tokens: number, cached: number) => Micros;
}

/** What an engine wants of the pool for one prompt. */
export interface PoolWish {
  /** Leading blocks that are on the GPUs already. */
  readonly held: number;
  /** Leading blocks that are of use at most. */
  readonly most: number;
  /** Tokens that have to be in KV. */
  readonly tokens: number;
}

/**
 * Decides for one engine what it reads from the pool behind the blocks that its GPUs hold: the
 * memory of its own node always, that of other nodes when fetching takes less time than computing.
 */
export class PoolReader {
  /** What the last `match` decided to read. */
  readonly found = new PoolFind();

  constructor(
    private readonly member: KvPoolMember,
    private readonly costs: ReaderCosts,
  ) {}

  /** Finds blocks in the memory of the own node alone; returns how many. */
  matchOwn(list: NamedBlocks, wish: PoolWish): number {
    this.find(list, wish);
    this.found.keepLeading();
    return this.found.length;
  }

  /** Finds blocks in the pool, as they would be read from now on; returns how many to read. */
  match(list: NamedBlocks, wish: PoolWish, nowUs: Micros): number {
    const { found } = this;
    this.find(list, wish);
    if (found.remote > 0 && !this.pays(wish, nowUs)) found.decline();
    return found.length;
  }

  /** A sequence starts with what was found. */
  take(): void {
    if (this.found.isDeclined) this.member.decline();
  }

  /** Reads what was found on other nodes; returns how long that takes. */
  fetch(nowUs: Micros): Micros {
    return this.member.fetch(this.found, nowUs);
  }

  /** The first `count` blocks are on the GPUs and full: the pool may keep them. */
  keep({ hashes, hashFrom, hashCount }: NamedBlocks, count: number): void {
    this.member.keep(hashes, { from: hashFrom, count: Math.min(count, hashCount) });
  }

  /** Drops what the memory of this node holds. */
  clear(): void {
    this.member.clear();
  }

  private find({ hashes, hashFrom, hashCount }: NamedBlocks, { held, most }: PoolWish): void {
    const count = Math.max(0, Math.min(most, hashCount) - held);
    this.member.find(hashes, { from: hashFrom + held, count }, this.found);
  }

  private pays({ held, tokens }: PoolWish, nowUs: Micros): boolean {
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
