import type { LinkEnd } from './link-end';

const FIRST_CAPACITY = 16;

/** Transfers under way, as columns by slot. A slot is reused after its transfer has gone. */
export class TransferColumns<Id> {
  readonly ids: Id[] = [];
  readonly sources: LinkEnd[] = [];
  readonly targets: LinkEnd[] = [];
  /** Transfers are numbered in the order of their start. */
  numbers = new Float64Array(FIRST_CAPACITY);
  /** Number of the source's ports that send to one port of the target. */
  sourcePorts = new Float64Array(FIRST_CAPACITY);
  /** Bytes left at `sinceUs`; from then on they flow at `bytesPerUs`. */
  bytesLeft = new Float64Array(FIRST_CAPACITY);
  sinceUs = new Float64Array(FIRST_CAPACITY);
  bytesPerUs = new Float64Array(FIRST_CAPACITY);
  completesUs = new Float64Array(FIRST_CAPACITY);
  private readonly free: number[] = [];
  private freeCount = 0;
  private used = 0;
  private started = 0;

  /** A slot for a transfer that has no rate yet. */
  add(id: Id, source: LinkEnd, target: LinkEnd): number {
    const slot = this.freeCount > 0 ? this.free[--this.freeCount]! : this.used++;
    if (slot === this.numbers.length) this.grow();
    this.ids[slot] = id;
    this.sources[slot] = source;
    this.targets[slot] = target;
    this.numbers[slot] = this.started++;
    this.bytesPerUs[slot] = 0;
    this.completesUs[slot] = Infinity;
    return slot;
  }

  remove(slot: number): void {
    this.free[this.freeCount++] = slot;
  }

  /** The one of two that completes first; on a tie, the one that started first. */
  earlier(a: number, b: number): number {
    const { completesUs, numbers } = this;
    const differenceUs = completesUs[a]! - completesUs[b]!;
    if (differenceUs === 0) return numbers[a]! < numbers[b]! ? a : b;
    return differenceUs < 0 ? a : b;
  }

  private grow(): void {
    this.numbers = doubled(this.numbers);
    this.bytesLeft = doubled(this.bytesLeft);
    this.sourcePorts = doubled(this.sourcePorts);
    this.sinceUs = doubled(this.sinceUs);
    this.bytesPerUs = doubled(this.bytesPerUs);
    this.completesUs = doubled(this.completesUs);
  }
}

function doubled(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}
