import { truncate } from '@baton/kernel';
import type { EngineSequence } from './sequence';

/** The chunks of prompts in a batch that runs while others are formed behind it. */
export class ChunksInFlight {
  /** One whose rank has changed since was preempted and came back, or has gone. */
  readonly prompts: EngineSequence[] = [];
  readonly ranks: number[] = [];
  /** Tokens of the prompt that are computed when the batch ends. */
  readonly reached: number[] = [];

  /** Takes the chunks of the batch that was formed: the next batch goes on behind them. */
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
