import { truncate } from '@baton/kernel';
import type { EngineSequence } from '../sequence';

/** The prompt chunks of a batch that runs while later ones are formed. */
export class ChunksInFlight {
  /**
   * Sequences with a chunk in the batch; `ranks` has their ranks. A sequence with another rank by
   * now was preempted and admitted again, or has left.
   */
  readonly prompts: EngineSequence[] = [];
  readonly ranks: number[] = [];
  /** Tokens of the prompt that are computed when the batch ends. */
  readonly reached: number[] = [];

  /** Takes the chunks of the formed batch; the next batch continues after them. */
  load(prefilling: readonly EngineSequence[]): void {
    truncate(this.prompts, 0);
    truncate(this.ranks, 0);
    truncate(this.reached, 0);
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
}
