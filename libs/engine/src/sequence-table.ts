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
   * Retires a sequence and its blocks. With `isWritten` the blocks are kept until the batch after
   * the last step, which writes to them, has ended.
   */
  free(seq: EngineSequence, isWritten: boolean): void {
    if (isWritten) {
      seq.state = 'leaving';
      this.leaving.push(seq);
    } else {
      this.blocks.release(seq);
      this.retire(seq);
    }
  }

  /** Frees the kept blocks when that batch has ended. Returns whether there were any. */
  freeLate(): boolean {
    if (this.leaving.length === 0) return false;
    for (const seq of this.leaving) {
      this.blocks.releaseLate(seq);
      this.retire(seq);
    }
    truncate(this.leaving, 0);
    return true;
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
