import type { Micros } from '@baton/kernel';
import type { DecodeSet } from './decode-set';
import type { DecodeSets } from './decode-sets';
import { truncate } from './truncate';
import type { SequenceHandle, StepFacts } from './types';

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
  private readonly emitting: SequenceHandle[] = [];
  private version = -1;
  private writtenFor: DecodeSet | undefined;

  constructor(private readonly decode: DecodeSets) {}

  /** A sequence that decodes after a step got a token in it; so did those that ended with it. */
  get emitted(): readonly SequenceHandle[] {
    const { emitting } = this;
    const decode = this.decode.current;
    const count = decode.size + this.finished.length;
    const isWritten = this.writtenFor === decode && this.version === decode.version;
    if (isWritten && emitting.length === count) return emitting;
    this.writtenFor = decode;
    this.version = decode.version;
    truncate(emitting, 0);
    for (const seq of decode.members) emitting.push(seq.handle);
    for (const handle of this.finished) emitting.push(handle);
    return emitting;
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
    if (this.finished.length > 0) this.version = -1;
    truncate(this.scheduled, 0);
    truncate(this.firstTokens, 0);
    truncate(this.held, 0);
    truncate(this.finished, 0);
    truncate(this.preempted, 0);
    truncate(this.rejected, 0);
  }
}
