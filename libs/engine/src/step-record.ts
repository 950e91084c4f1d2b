import { type Micros, NOT_YET, truncate } from '@baton/kernel';
import type { Batch } from './batch';
import { type DecodeSet, type DecodeSets, NO_VERSION } from './decode-set';
import type { EngineSequence } from './sequence';
import type { SequenceHandle, StepFacts } from './port/engine-port';

const NONE: readonly SequenceHandle[] = [];

/**
 * The facts of the last step, one object for the life of an engine. The list of emitting sequences
 * is built only when it is read, and only when the batch has changed since the last time, so that a
 * caller that leaps pays nothing for it.
 */
export class StepRecord implements StepFacts {
  startUs: Micros = NOT_YET;
  previousUs: Micros = NOT_YET;
  endUs: Micros = NOT_YET;
  firstEndUs: Micros = NOT_YET;
  readonly later = {
    steps: 0,
    firstUs: 0,
    secondUs: 0,
    spanUs: 0,
    tokens: 0,
    firstTokens: [] as SequenceHandle[],
    continue: false,
  };
  /** Whether these facts have been read: those of an empty batch belong to the next step. */
  isRead = false;
  readonly scheduled: SequenceHandle[] = [];
  readonly firstTokens: SequenceHandle[] = [];
  readonly held: SequenceHandle[] = [];
  readonly finished: SequenceHandle[] = [];
  readonly preempted: SequenceHandle[] = [];
  readonly rejected: SequenceHandle[] = [];
  /**
   * Sequences preempted while the step that brings their token ran, which only a batch formed ahead
   * can do.
   */
  readonly departed: EngineSequence[] = [];
  /** The batch after the step; undefined when batches are not formed ahead. */
  batch: Batch | undefined;
  /** All of these lists. */
  private readonly lists: readonly unknown[][];
  private readonly emitting: SequenceHandle[] = [];
  private version = NO_VERSION;
  private writtenFor: DecodeSet | undefined;

  /** @param hasBursts  sequences get any number of tokens in a step, with speculation */
  constructor(
    private readonly decode: DecodeSets,
    private readonly hasBursts: boolean,
  ) {
    const { scheduled, firstTokens, later, held, finished, preempted, rejected, departed } = this;
    const begun = [scheduled, preempted, rejected, departed];
    this.lists = [...begun, firstTokens, later.firstTokens, held, finished];
  }

  /** The sequences that decode after the step and those that ended with it: each got a token. */
  get emitted(): readonly SequenceHandle[] {
    const { emitting, batch } = this;
    const decode = this.decode.current;
    const count = this.countOfEmitting() + this.finished.length;
    const isWritten = this.writtenFor === decode && this.version === decode.version;
    if (isWritten && !this.hasBursts && emitting.length === count) return emitting;
    this.writtenFor = decode;
    const isUsual = batch === undefined || batch.stalled.length + batch.resumed.length === 0;
    this.version = isUsual ? decode.version : NO_VERSION;
    truncate(emitting, 0);
    // Sequences that joined were admitted after all others.
    const firstRank = batch?.joined[0]?.rank ?? Infinity;
    for (const seq of decode.members) {
      if (seq.rank < firstRank && seq.burst >= 0) emitting.push(seq.handle);
    }
    for (const seq of batch?.stalled ?? []) if (seq.burst >= 0) emitting.push(seq.handle);
    for (const handle of this.preemptedWithToken) emitting.push(handle);
    for (const handle of this.finished) emitting.push(handle);
    return emitting;
  }

  get preemptedWithToken(): readonly SequenceHandle[] {
    const { departed } = this;
    if (departed.length === 0) return NONE;
    return departed.filter(({ state }) => state === 'waiting').map(({ handle }) => handle);
  }

  /** Speculation: tokens in addition to the one per sequence that `countOfEmitting` counts. */
  tokensBesideOne(): number {
    const { members } = this.decode.current;
    const departed = this.departed.filter(({ state }) => state === 'waiting');
    const got = [...members, ...departed, ...(this.batch?.stalled ?? [])];
    return got.reduce((sum, { burst }) => sum + Math.max(0, burst), 0);
  }

  /**
   * The number of sequences with tokens of the step that continue to decode or were preempted
   * since.
   */
  countOfEmitting(): number {
    const { members, size } = this.decode.current;
    let count = size + this.preemptedWithToken.length;
    if (this.batch !== undefined) count += this.besideMembers(this.batch);
    if (this.hasBursts) for (const { burst } of members) if (burst < 0) count--;
    return count;
  }

  /** Sequences of the step that the next batch lacks, less those that only the next batch has. */
  private besideMembers({ joined, stalled, resumed }: Batch): number {
    let count = 0;
    for (const seq of joined) if (seq.state === 'decoding') count--;
    for (const seq of stalled) if (seq.burst >= 0) count++;
    if (this.hasBursts) return count;
    for (const seq of resumed) if (seq.state === 'decoding') count--;
    return count;
  }

  /** Whether a sequence was rejected when the batch was formed, or earlier in an empty batch. */
  get hasDismissed(): boolean {
    return this.rejected.length + this.preempted.length > 0;
  }

  /** Begins the facts of another step. */
  clear(): void {
    this.isRead = false;
    if (this.finished.length + this.departed.length > 0) this.version = NO_VERSION;
    for (const list of this.lists) if (list.length > 0) truncate(list, 0);
  }
}
