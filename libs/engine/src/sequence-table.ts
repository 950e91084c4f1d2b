import { InvariantError, truncate } from '@baton/kernel';
import type { BlockList } from '@baton/kvcache';
import { EngineSequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import type { SequenceHandle, SequenceSpec } from './port/engine-port';

/**
 * The slots of an engine's sequences; a handle is the number of a slot. A freed slot is reused only
 * after the next `recycle`, so the facts of a step can still be read.
 */
export class EngineSequenceTable {
  private readonly slots: EngineSequence[] = [];
  private readonly vacant: EngineSequence[] = [];
  private readonly retired: EngineSequence[] = [];
  /** Ended sequences that keep their blocks until a batch in flight has ended. */
  readonly leaving: EngineSequence[] = [];
  /** The numbers of these batches. */
  private readonly leavingAfter: number[] = [];
  /** Blocks of ended sequences that wait to be fetched. */
  heldBlocks = 0;
  /** Number of sequences submitted so far. */
  submitted = 0;

  constructor(private readonly blocks: SequenceBlocks) {}

  add(spec: SequenceSpec): EngineSequence {
    const seq = this.vacant.pop() ?? this.addSlot();
    seq.begin(spec, this.submitted++);
    return seq;
  }

  at(handle: SequenceHandle): EngineSequence {
    const seq = this.slots[handle];
    return seq ?? unknownHandle(handle);
  }

  retire(seq: EngineSequence): void {
    seq.endSequence();
    this.retired.push(seq);
  }

  /**
   * Retires a sequence and its blocks.
   *
   * @param lastWriting  number of the last batch in flight that writes to the blocks, which are
   *   kept until it has ended; undefined when none does
   */
  free(seq: EngineSequence, lastWriting: number | undefined): void {
    if (lastWriting === undefined) {
      this.blocks.release(seq);
      this.retire(seq);
    } else {
      seq.state = 'leaving';
      this.leaving.push(seq);
      this.leavingAfter.push(lastWriting);
    }
  }

  /** Frees the blocks kept until this batch has ended. Returns whether there were any. */
  freeLate(ended: number): boolean {
    const { leaving, leavingAfter } = this;
    if (leaving.length === 0) return false;
    let count = 0;
    for (let i = 0; i < leaving.length; i++) {
      const seq = leaving[i]!;
      if (leavingAfter[i]! > ended) {
        leaving[count] = seq;
        leavingAfter[count++] = leavingAfter[i]!;
        continue;
      }
      this.blocks.releaseLate(seq);
      this.retire(seq);
    }
    const hasFreed = count < leaving.length;
    truncate(leaving, count);
    truncate(leavingAfter, count);
    return hasFreed;
  }

  /** Frees the slots that were retired since the last call. */
  recycle(): void {
    for (let seq = this.retired.pop(); seq !== undefined; seq = this.retired.pop()) {
      this.vacant.push(seq);
    }
  }

  /** All sequences in the engine. */
  live(): EngineSequence[] {
    return this.slots.filter((seq) => seq.state !== 'gone');
  }

  blockLists(): BlockList[] {
    return this.slots.flatMap((seq) => [seq.blocks, ...seq.others]);
  }

  private addSlot(): EngineSequence {
    const seq = new EngineSequence(this.slots.length);
    this.slots.push(seq);
    return seq;
  }
}

function unknownHandle(handle: SequenceHandle): never {
  throw new InvariantError(`no sequence ever had the handle ${handle}`);
}
