import type { EngineJob } from '@baton/contract';
import { assert } from '@baton/kernel';
import { Sequence, type SequenceOwner } from './sequence';

const SLOT_BITS = 16;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
/** Slots are named by 16 bits of the stream id. */
const MAX_LIVE_SEQUENCES = 1 << SLOT_BITS;

export interface SequenceOpening {
  /** Place of the sequence in its answer. */
  readonly index: number;
  /** Carries the next of `nextIds`. */
  readonly job: EngineJob;
  readonly nowMs: number;
}

/**
 * All sequences that are under way, in slots. A stream id is a slot and its use count, so that a
 * late frame of an ended sequence never reaches the sequence that has its slot now. Free slots are
 * used in the order in which they became free, for the same reason.
 */
export class SequenceTable {
  private readonly slots: (Sequence | undefined)[];
  private readonly uses: Uint16Array;
  private readonly free: Uint16Array;
  private freeAt = 0;
  /** The sequences in the slots, so that a scan skips the empty ones. */
  private readonly live = new Set<Sequence>();
  /** Sequences opened so far. */
  opened = 0;

  constructor(readonly capacity: number = MAX_LIVE_SEQUENCES) {
    assert(capacity >= 1 && capacity <= MAX_LIVE_SEQUENCES, 'a slot fits the stream id');
    this.slots = new Array<Sequence | undefined>(capacity).fill(undefined);
    this.uses = new Uint16Array(capacity);
    this.free = Uint16Array.from({ length: capacity }, (_, slot) => slot);
  }

  get size(): number {
    return this.live.size;
  }

  hasRoom(count: number): boolean {
    return this.live.size + count <= this.capacity;
  }

  /** The stream ids of the sequences that are opened next. The caller must check for room. */
  nextIds(count: number): number[] {
    return Array.from({ length: count }, (_, i) => {
      const slot = this.free[(this.freeAt + i) % this.capacity] ?? 0;
      return (this.uses[slot] ?? 0) * (SLOT_MASK + 1) + slot;
    });
  }

  /** Opens a sequence. The caller must have checked for room. */
  open(owner: SequenceOwner, { index, job, nowMs }: SequenceOpening): Sequence {
    assert(this.hasRoom(1), 'the table has room');
    const { streamId } = job;
    const slot = streamId & SLOT_MASK;
    assert(slot === this.free[this.freeAt], 'the job has the next stream id');
    this.freeAt = (this.freeAt + 1) % this.capacity;
    this.opened += 1;
    const sequence = new Sequence(index, job, owner, nowMs);
    this.slots[slot] = sequence;
    this.live.add(sequence);
    return sequence;
  }

  get(streamId: number): Sequence | undefined {
    const sequence = this.slots[streamId & SLOT_MASK];
    return sequence?.streamId === streamId ? sequence : undefined;
  }

  /** Frees the slot of an ended sequence. Idempotent. */
  release(sequence: Sequence): void {
    sequence.isOver = true;
    const slot = sequence.streamId & SLOT_MASK;
    if (this.slots[slot] !== sequence) return;
    this.slots[slot] = undefined;
    this.uses[slot] = (this.uses[slot] ?? 0) + 1;
    this.free[(this.freeAt + this.capacity - this.live.size) % this.capacity] = slot;
    this.live.delete(sequence);
  }

  [Symbol.iterator](): Iterator<Sequence> {
    return this.live.values();
  }
}
