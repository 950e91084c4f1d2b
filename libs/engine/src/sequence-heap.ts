import { type EngineSequence, NOT_LISTED } from './sequence';

/**
 * A binary heap of sequences. Any of them can be taken out, because each stores its place. A
 * sequence is in one heap at a time. `isBefore` must order any two sequences strictly, so that the
 * order never depends on how the heap was built.
 */
export class SequenceHeap {
  private readonly items: EngineSequence[] = [];

  constructor(private readonly isBefore: (a: EngineSequence, b: EngineSequence) => boolean) {}

  get size(): number {
    return this.items.length;
  }

  peek(): EngineSequence | undefined {
    return this.items[0];
  }

  /** In no particular order. */
  toArray(): readonly EngineSequence[] {
    return this.items;
  }

  push(seq: EngineSequence): void {
    this.items.push(seq);
    this.siftUp(seq, this.items.length - 1);
  }

  remove(seq: EngineSequence): void {
    const hole = seq.heapIndex;
    const last = this.items.pop()!;
    seq.heapIndex = NOT_LISTED;
    if (last === seq) return;
    this.siftUp(last, hole);
    if (last.heapIndex === hole) this.siftDown(last, hole);
  }

  /** Moves a sequence to its new place after its order has changed. */
  move(seq: EngineSequence): void {
    const at = seq.heapIndex;
    this.siftUp(seq, at);
    if (seq.heapIndex === at) this.siftDown(seq, at);
  }

  private siftUp(seq: EngineSequence, start: number): void {
    let hole = start;
    while (hole > 0) {
      const parent = this.items[(hole - 1) >> 1]!;
      if (!this.isBefore(seq, parent)) break;
      const next = parent.heapIndex;
      this.place(parent, hole);
      hole = next;
    }
    this.place(seq, hole);
  }

  private siftDown(seq: EngineSequence, start: number): void {
    const { items } = this;
    let hole = start;
    for (let child = 2 * hole + 1; child < items.length; child = 2 * hole + 1) {
      if (child + 1 < items.length && this.isBefore(items[child + 1]!, items[child]!)) child++;
      if (!this.isBefore(items[child]!, seq)) break;
      this.place(items[child]!, hole);
      hole = child;
    }
    this.place(seq, hole);
  }

  private place(seq: EngineSequence, at: number): void {
    this.items[at] = seq;
    seq.heapIndex = at;
  }
}
