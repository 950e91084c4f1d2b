/** Blocks that are read from one other node. */
export interface SourceBlocks {
  readonly node: number;
  readonly hashes: number[];
}

/**
 * Where the leading blocks of a list lie, as `KvPoolMember.find` found them. A caller keeps one and
 * lets `find` fill it again.
 */
export class PoolFind {
  /** Blocks found, from the first on. */
  length = 0;
  /** Leading ones among them in the memory of the own node. */
  leading = 0;
  /** Blocks in the memory of the own node; the others lie on other nodes. */
  local = 0;
  /** Other nodes in the order in which they are read. A node can occur twice. */
  readonly sources: SourceBlocks[] = [];
  /** True when blocks of other nodes were found and are not read. */
  isDeclined = false;

  get remote(): number {
    return this.length - this.local;
  }

  clear(): void {
    this.length = 0;
    this.leading = 0;
    this.local = 0;
    this.isDeclined = false;
    this.sources.length = 0;
  }

  /** Adds the next block, which lies on the own node. */
  addLocal(): void {
    if (this.leading === this.length) this.leading++;
    this.local++;
    this.length++;
  }

  /** Adds the next block, which lies on this other node. */
  addRemote(node: number, hash: number): void {
    const last = this.sources.at(-1);
    if (last?.node === node) last.hashes.push(hash);
    else this.sources.push({ node, hashes: [hash] });
    this.length++;
  }

  /** Keeps only the leading blocks of the engine's own node. */
  keepLeading(): void {
    this.length = this.leading;
    this.local = this.leading;
    this.sources.length = 0;
  }

  /** Like `keepLeading`, when reading the rest takes longer than computing it. */
  decline(): void {
    this.keepLeading();
    this.isDeclined = true;
  }
}
