import type { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';

/**
 * The LoRA adapters of one batch. As in vLLM's scheduler, a batch has at most `max_loras` of them:
 * admission skips a waiting sequence with a further adapter and goes on with those behind it.
 */
export class AdapterSlots {
  private readonly inBatch = new Set<number>();
  /**
   * Sequences that the current admission skipped; between admissions, those that the last one
   * skipped.
   */
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
