import { type Micros, truncate } from '@baton/kernel';
import type { Batch } from './batch';
import type { DecodeSet, DecodeSets } from './decode-set';
import type { EngineSequence } from './sequence';
import type { SequenceHandle, StepFacts } from './port/engine-port';

const NONE: readonly SequenceHandle[] = [];

/**
 * The facts of the last step, one object for the life of an engine. The list of emitting sequences
 * is written only when it is read, and only when the batch has changed since it was last written: a
 * caller that leaps pays nothing for it.
 */
export class StepRecord implements StepFacts {
  startUs: Micros = 0;
  formedUs: Micros = 0;
  endUs: Micros = 0;
  steps = 0;
  /**
   * Whether these facts were handed out: those of a batch that came to nothing belong to the next
   * step.
   */
  isRead = false;
  readonly scheduled: SequenceHandle[] = [];
  readonly firstTokens: SequenceHandle[] = [];
  readonly held: SequenceHandle[] = [];
  readonly finished: SequenceHandle[] = [];
  readonly preempted: SequenceHandle[] = [];
  readonly rejected: SequenceHandle[] = [];
  /**
   * Preempted while the step ran that brings their token, which only a batch formed ahead can do.
   */
  readonly departed: EngineSequence[] = [];
  /** Undefined: batches are not formed ahead. Else the one behind the step. */
  batch: Batch | undefined;
  private readonly emitting: SequenceHandle[] = [];
  private version = -1;
  private writtenFor: DecodeSet | undefined;

  /** @param hasBursts  sequences get any number of tokens in a step, with speculation */
  constructor(
    private readonly decode: DecodeSets,
    private readonly hasBursts: boolean,
  ) {}

  /** A sequence that decodes after a step got a token in it; so did those that ended with it. */
  get emitted(): readonly SequenceHandle[] {
    const { emitting, batch } = this;
    const decode = this.decode.current;
    const count = this.countOfEmitting() + this.finished.length;
    const isWritten = this.writtenFor === decode && this.version === decode.version;
    if (isWritten && !this.hasBursts && emitting.length === count) return emitting;
    this.writtenFor = decode;
    this.version = decode.version;
    truncate(emitting, 0);
    // Those that joined were admitted after all others.
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

  /** Speculation: tokens beside one each of those that `countOfEmitting` counts. */
  tokensBesideOne(): number {
    const { members } = this.decode.current;
    const departed = this.departed.filter(({ state }) => state === 'waiting');
    const got = [...members, ...departed, ...(this.batch?.stalled ?? [])];
    return got.reduce((sum, { burst }) => sum + Math.max(0, burst), 0);
  }

  /** Sequences with tokens of the step which decode on, or were preempted since. */
  countOfEmitting(): number {
    const { members, size } = this.decode.current;
    let count = size + this.preemptedWithToken.length;
    if (this.batch !== undefined) count += this.besideMembers(this.batch);
    if (this.hasBursts) for (const { burst } of members) if (burst < 0) count--;
    return count;
  }

  /** Sequences of the step that the batch behind it does not have, less those of that one alone. */
  private besideMembers({ joined, stalled, resumed }: Batch): number {
    let count = 0;
    for (const seq of joined) if (seq.state === 'decoding') count--;
    for (const seq of stalled) if (seq.burst >= 0) count++;
    if (this.hasBursts) return count;
    for (const seq of resumed) if (seq.state === 'decoding') count--;
    return count;
  }

  /**
   * Whether a sequence was rejected when the batch was formed, or before, in one that came to
   * nothing.
   */
  get hasDismissed(): boolean {
    return this.rejected.length + this.preempted.length > 0;
  }

  clear(): void {
    this.isRead = false;
    if (this.finished.length + this.departed.length > 0) this.version = -1;
    truncate(this.scheduled, 0);
    truncate(this.firstTokens, 0);
    truncate(this.held, 0);
    truncate(this.finished, 0);
    truncate(this.preempted, 0);
    truncate(this.rejected, 0);
    truncate(this.departed, 0);
  }
}
