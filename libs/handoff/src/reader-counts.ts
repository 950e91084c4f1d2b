/** Counts the reads under way at a source, per reading engine. */
export class ReaderCounts<Id> {
  private readonly perReader = new Map<Id, number>();

  add(reader: Id): void {
    this.perReader.set(reader, (this.perReader.get(reader) ?? 0) + 1);
  }

  remove(reader: Id): void {
    const left = (this.perReader.get(reader) ?? 0) - 1;
    if (left > 0) this.perReader.set(reader, left);
    else this.perReader.delete(reader);
  }

  /** The reading engines, in the order in which they began. */
  names(): Id[] {
    return [...this.perReader.keys()];
  }
}
