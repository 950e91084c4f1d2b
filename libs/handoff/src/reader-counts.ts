/** How many reads are under way at a source, in all and per reading engine. */
export class ReaderCounts {
  private readonly perReader = new Map<string, number>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  add(reader: string): void {
    this.perReader.set(reader, (this.perReader.get(reader) ?? 0) + 1);
    this.sum += 1;
  }

  remove(reader: string): void {
    const left = (this.perReader.get(reader) ?? 0) - 1;
    if (left > 0) this.perReader.set(reader, left);
    else this.perReader.delete(reader);
    this.sum -= 1;
  }

  /** The engines that read, in the order in which they began. */
  names(): string[] {
    return [...this.perReader.keys()];
  }
}
