import type { BatonError, EndReason } from '@baton/contract';
import type { Log } from '../../tokens';
import type { Answer, AnswerFacts, SequenceEnd, TokenSpan } from './answer';
import { PassingAnswer } from './passing';
import { sendLater } from './send-later';

/** Stores an answer. No call rejects: the answer is sent whether it is stored or not. */
export interface Keeper {
  storeStart?(): Promise<void>;
  storeEnd(ends: readonly SequenceEnd[], facts: AnswerFacts): Promise<void>;
  /** Without it, nothing of a failed answer is stored. */
  storeFailure?(error: BatonError): Promise<void>;
}

/**
 * An answer that is stored before its last bytes are sent, so that a client can read or continue it
 * as soon as it has the end.
 */
export class StoredAnswer extends PassingAnswer {
  private readonly ends: SequenceEnd[] = [];

  constructor(
    inner: Answer,
    private readonly keeper: Keeper,
    private readonly logger: Log,
  ) {
    super(inner);
  }

  override open(): void {
    void this.keeper.storeStart?.();
    super.open();
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.ends.push({ span, reason });
    super.endSequence(span, reason);
  }

  override complete(facts: AnswerFacts): void {
    this.after(this.keeper.storeEnd(this.ends, facts), () => super.complete(facts));
  }

  override fail(error: BatonError): void {
    const stored = this.keeper.storeFailure?.(error);
    if (stored === undefined) super.fail(error);
    else this.after(stored, () => super.fail(error));
  }

  private after(stored: Promise<void>, send: () => void): void {
    sendLater(stored.then(send), { answer: this.inner, logger: this.logger });
  }
}
