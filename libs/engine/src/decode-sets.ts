import { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';

/**
 * All decoding sequences of an engine: one set for each batch that may be in flight, since those of
 * a batch go on together. An engine without pipeline stages has one set.
 */
export class DecodeSets {
  readonly all: readonly DecodeSet[];
  /** The set of the batch that is being formed, or that ended last. */
  current: DecodeSet;

  /** @param draftTokens  tokens beyond the next one for which a sequence may hold blocks */
  constructor(count: number, blocks: SequenceBlocks, draftTokens = 0) {
    this.all = Array.from({ length: count }, (_, i) => new DecodeSet(blocks, draftTokens, i));
    this.current = this.all[0]!;
  }

  /** Sequences of all sets. */
  get size(): number {
    let size = 0;
    for (let i = 0; i < this.all.length; i++) size += this.all[i]!.size;
    return size;
  }

  /** The set that a decoding sequence is in. */
  of(seq: EngineSequence): DecodeSet {
    return this.all[seq.decodeSet]!;
  }
}
