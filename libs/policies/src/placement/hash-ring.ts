import { hashString, mix } from '@baton/kernel';

/**
 * A consistent hash ring: every engine has many points on it, and a key belongs to the engine of
 * the next point. A joining engine takes over only the keys whose next point is now its own; a
 * leaving engine passes on only those keys. The points of an engine depend only on its name.
 */
export class HashRing {
  private names: readonly string[] = [];
  private points = new Float64Array(0);
  /** Index of the engine at each point. */
  private owners = new Int32Array(0);

  constructor(private readonly virtualNodes: number) {}

  /** Sets the present engines; costs a comparison of names when nothing has changed. */
  update(engines: readonly { readonly engineId: string }[]): void {
    const { names } = this;
    let isSame = engines.length === names.length;
    for (let i = 0; i < engines.length && isSame; i++) isSame = engines[i]!.engineId === names[i];
    if (!isSame) this.build(engines.map(({ engineId }) => engineId));
  }

  /**
   * Visits engines (by index into what `update` was given) from the key's point on until one is
   * accepted, each at least once; -1 when none is.
   */
  find(key: number, accepts: (engine: number) => boolean): number {
    const { owners } = this;
    const from = this.firstPointAfter(mix(key, this.virtualNodes));
    for (let i = 0; i < owners.length; i++) {
      const owner = owners[(from + i) % owners.length]!;
      if (accepts(owner)) return owner;
    }
    return -1;
  }

  private build(names: readonly string[]): void {
    this.names = names;
    const nodes = names.flatMap((name, owner) => {
      const hash = hashString(name);
      return Array.from({ length: this.virtualNodes }, (_, i) => ({ point: mix(hash, i), owner }));
    });
    nodes.sort((a, b) => a.point - b.point || a.owner - b.owner);
    this.points = Float64Array.from(nodes, ({ point }) => point);
    this.owners = Int32Array.from(nodes, ({ owner }) => owner);
  }

  private firstPointAfter(hash: number): number {
    let low = 0;
    let high = this.points.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.points[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
