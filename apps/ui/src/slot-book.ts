/**
 * Slots in a row. Each request keeps its slot until it leaves. The next request gets the first free
 * one.
 */
export class SlotBook {
  private readonly slots = new Map<number, number>();
  private readonly free: number[] = [];
  private next = 0;

  /** Number of slots up to the highest one in use. */
  get extent(): number {
    return this.next;
  }

  get size(): number {
    return this.slots.size;
  }

  of(key: number): number {
    const known = this.slots.get(key);
    if (known !== undefined) return known;
    const slot = this.takeFree() ?? this.next++;
    this.slots.set(key, slot);
    return slot;
  }

  /** Frees the slots of all other requests. */
  keep(keys: ReadonlySet<number>): void {
    for (const [key, slot] of this.slots) {
      if (keys.has(key)) continue;
      this.slots.delete(key);
      this.free.push(slot);
    }
    if (this.slots.size > 0) return;
    this.free.length = 0;
    this.next = 0;
  }

  private takeFree(): number | undefined {
    if (this.free.length === 0) return undefined;
    let best = 0;
    for (let i = 1; i < this.free.length; i += 1) if (this.free[i]! < this.free[best]!) best = i;
    const [slot] = this.free.splice(best, 1);
    return slot;
  }
}
