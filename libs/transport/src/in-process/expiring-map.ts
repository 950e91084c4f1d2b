/** A map whose entries expire, as Redis keys do. */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, { value: Value; endMs: number }>();

  /** @param nowMs  the clock of the entries' times, which never goes back */
  constructor(private readonly nowMs: () => number) {}

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (this.nowMs() < entry.endMs) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value, ttlMs: number): void {
    this.entries.set(key, { value, endMs: this.nowMs() + ttlMs });
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

  /** Drops the oldest entries until `most` are left. */
  trim(most: number): void {
    this.sweep();
    for (const key of this.entries.keys()) {
      if (this.entries.size <= most) return;
      this.entries.delete(key);
    }
  }

  keys(): string[] {
    this.sweep();
    return [...this.entries.keys()];
  }

  values(): Value[] {
    this.sweep();
    return [...this.entries.values()].map((entry) => entry.value);
  }

  sweep(): void {
    const nowMs = this.nowMs();
    for (const [key, entry] of this.entries) if (nowMs >= entry.endMs) this.entries.delete(key);
  }
}
