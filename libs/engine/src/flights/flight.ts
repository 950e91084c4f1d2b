import { type Micros, truncate } from '@baton/kernel';
import { type Batch, emptySums } from '../batch';
import { type DecodeSet, NO_VERSION } from '../decode-set';
import type { EngineSequence } from '../sequence';

/**
 * A place in the queue of batches: a batch as it was formed, or none when nothing could run. When a
 * sequence leaves before the step, its row stays in the batch and its output is dropped.
 */
export class Flight {
  isFormed = false;
  /** The batch of which its decoding sequences are. */
  set: DecodeSet;
  /** Version of that set. */
  version = NO_VERSION;
  /** Whether each of its sequences decodes and gets one token, in the time of the model. */
  isPure = false;
  /** Whether it needs the tokens of the step that was under way when it was formed. */
  isFed = false;
  /** When it can enter the first stage, and its sequences got their previous tokens. */
  fromUs: Micros = 0;
  loadUs = 0;
  readonly sums = emptySums();
  /** Sequences that it admits with KV from elsewhere; `joinedRanks` has their ranks. */
  readonly joined: EngineSequence[] = [];
  readonly joinedRanks: number[] = [];
  /** Sequences that the batch before it left out. */
  readonly resumed: EngineSequence[] = [];
  /**
   * Sequences with a chunk of a prompt in it; `ranks` has their ranks. A sequence with another rank
   * by now was preempted and admitted again, or has left.
   */
  readonly prompts: EngineSequence[] = [];
  readonly ranks: number[] = [];
  /** Tokens of the prompt that are computed when the batch ends. */
  readonly reached: number[] = [];

  constructor(set: DecodeSet) {
    this.set = set;
  }

  /** Takes what the formed batch has beside its chunks. */
  take(batch: Batch): void {
    this.version = this.set.version;
    this.loadUs = batch.loadUs;
    batch.aggregates(this.sums);
    truncate(this.joined, 0);
    truncate(this.joinedRanks, 0);
    for (const seq of batch.joined) {
      this.joined.push(seq);
      this.joinedRanks.push(seq.rank);
    }
    truncate(this.resumed, 0);
    for (const seq of batch.resumed) this.resumed.push(seq);
    truncate(this.prompts, 0);
    truncate(this.ranks, 0);
    truncate(this.reached, 0);
  }

  /** Takes its chunks; later batches continue after them. */
  takeChunks(prefilling: readonly EngineSequence[]): void {
    for (const seq of prefilling) {
      if (seq.chunk === 0) continue;
      seq.computed += seq.chunk;
      seq.inFlight += seq.chunk;
      seq.chunk = 0;
      this.prompts.push(seq);
      this.ranks.push(seq.rank);
      this.reached.push(seq.computed);
    }
  }

  hasChunkOf(seq: EngineSequence): boolean {
    const at = this.prompts.indexOf(seq);
    return at >= 0 && this.ranks[at] === seq.rank;
  }
}
