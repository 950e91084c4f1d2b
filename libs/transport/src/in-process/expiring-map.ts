/**
 * A map whose entries vanish when their time is over, as Redis keys do. Instants are
 * `performance.now()`.
 */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, { value: Value; endMs: number }>();

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (performance.now() < entry.endMs) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value, ttlMs: number): void {
    this.entries.set(key, { value, endMs: performance.now() + ttlMs });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  /** Moves an entry behind all others. */
  touch(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.entries.set(key, entry);
  }

  /** Drops the entries in front until `most` are left. */
  trim(most: number): void {
    this.sweep();
    for (const key of this.entries.keys()) {
      if (this.entries.size <= most) return;
      this.entries.delete(key);
    }
  }

  values(): Value[] {
    this.sweep();
    return [...this.entries.values()].map((entry) => entry.value);
  }

  sweep(): void {
    const nowMs = performance.now();
    for (const [key, entry] of this.entries) if (nowMs >= entry.endMs) this.entries.delete(key);
  }
}
