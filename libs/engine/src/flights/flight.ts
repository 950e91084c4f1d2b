import { type Micros, NOT_YET, truncate } from '@baton/kernel';
import { type Batch, emptySums } from '../batch';
import { type DecodeSet, NO_VERSION } from '../decode-set';
import type { EngineSequence } from '../sequence';

/** `reached` of a sequence that decodes from its first step on; a chunk reaches at least 1. */
export const JOINED = 0;
/** `reached` of a sequence that the batch before left out. */
export const RESUMED = -1;

/**
 * A place in the queue of batches: a batch as it was formed, or none when nothing could run. When a
 * sequence leaves before the step, its row stays in the batch and its output is dropped.
 */
export class Flight {
  /** The place of the next batch, in a ring. */
  behind: Flight = this;
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
  fromUs: Micros = NOT_YET;
  loadUs = 0;
  readonly sums = emptySums();
  /**
   * Its sequences that did not decode in the batch before: those with KV from elsewhere that it
   * admits, those that it resumes, then those with a chunk of a prompt. `ranks` has their ranks: a
   * sequence with another one by now was preempted and admitted again, or has left.
   */
  readonly news: EngineSequence[] = [];
  readonly ranks: number[] = [];
  /** Tokens of the prompt that are computed when the batch ends; `JOINED` or `RESUMED`. */
  readonly reached: number[] = [];

  constructor(set: DecodeSet) {
    this.set = set;
  }

  /** Takes what the formed batch has, its chunks excepted. */
  take(batch: Batch): void {
    this.version = this.set.version;
    this.loadUs = batch.loadUs;
    batch.aggregates(this.sums);
    this.forgetNews();
    for (const seq of batch.joined) this.add(seq, JOINED);
    for (const seq of batch.resumed) this.add(seq, RESUMED);
  }

  /** Takes its chunks; later batches continue after them. */
  takeChunks(prefilling: readonly EngineSequence[]): void {
    for (const seq of prefilling) {
      if (seq.chunk === 0) continue;
      seq.computed += seq.chunk;
      seq.inFlight += seq.chunk;
      seq.chunk = 0;
      this.add(seq, seq.computed);
    }
  }

  get hasChunks(): boolean {
    const { reached } = this;
    return reached.length > 0 && reached[reached.length - 1]! > 0;
  }

  hasChunkOf(seq: EngineSequence): boolean {
    const { news, reached, ranks } = this;
    return news.some((one, i) => one === seq && reached[i]! > 0 && ranks[i] === seq.rank);
  }

  forgetNews(): void {
    if (this.news.length === 0) return;
    truncate(this.news, 0);
    truncate(this.ranks, 0);
    truncate(this.reached, 0);
  }

  private add(seq: EngineSequence, reached: number): void {
    this.news.push(seq);
    this.ranks.push(seq.rank);
    this.reached.push(reached);
  }
}

/** Places for this many batches; the set is only a beginning. */
export function ringOf(places: number, set: DecodeSet): Flight {
  const first = new Flight(set);
  let last = first;
  for (let i = 1; i < places; i++) {
    last.behind = new Flight(set);
    last = last.behind;
  }
  last.behind = first;
  return first;
}
