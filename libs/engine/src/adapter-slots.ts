import type { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';

/**
 * LoRA adapters of one batch. As in vLLM's scheduler a batch mixes at most `max_loras` of them: a
 * waiting sequence with a further adapter is passed over, and those behind it may go first.
 */
export class AdapterSlots {
  private readonly inBatch = new Set<number>();
  /** Sequences passed over by the current admission, or by the last one if none is under way. */
  readonly passedOver: EngineSequence[] = [];

  constructor(private readonly maxAdapters: number) {}

  /** Call it before an admission. O(batch). */
  begin(decode: DecodeSet, prefilling: readonly EngineSequence[]): void {
    this.inBatch.clear();
    for (const seq of decode.members) this.take(seq);
    for (const seq of prefilling) this.take(seq);
  }

  has({ adapter }: EngineSequence): boolean {
    return adapter === 0 || this.inBatch.has(adapter) || this.inBatch.size < this.maxAdapters;
  }

  take({ adapter }: EngineSequence): void {
    if (adapter !== 0) this.inBatch.add(adapter);
  }
}
