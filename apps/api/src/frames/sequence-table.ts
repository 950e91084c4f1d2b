import type { EngineJob } from '@baton/contract';
import { assert } from '@baton/kernel';
import { Sequence, type SequenceOwner } from './sequence';

const SLOT_BITS = 16;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
/** Slots are named by 16 bits of the stream id. */
export const MAX_LIVE_SEQUENCES = 1 << SLOT_BITS;

export interface SequenceOpening {
  /** Place of the sequence in its answer. */
  readonly index: number;
  /** The job that carries this stream id. */
  readonly jobOf: (streamId: number) => EngineJob;
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

  /** Opens a sequence. The caller must have checked for room. */
  open(owner: SequenceOwner, { index, jobOf, nowMs }: SequenceOpening): Sequence {
    assert(this.hasRoom(1), 'the table has room');
    const slot = this.free[this.freeAt] ?? 0;
    this.freeAt = (this.freeAt + 1) % this.capacity;
    this.opened += 1;
    const streamId = (this.uses[slot] ?? 0) * (SLOT_MASK + 1) + slot;
    const sequence = new Sequence(streamId, index, jobOf(streamId), owner, nowMs);
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
