import type { EndReason } from '@baton/contract';
import type { Answer, AnswerFacts, TokenSpan } from './answer';
import { PassingAnswer } from './passing';
import type { SequenceEnd } from './threaded';

/** Stores a finished answer. Does not reject: the answer is sent whether it is stored or not. */
export type StoreDocument = (ends: readonly SequenceEnd[], facts: AnswerFacts) => Promise<void>;

/**
 * An answer that is stored before its last bytes are sent, so that the client can read it as soon
 * as it ends.
 */
export class DocumentStoringAnswer extends PassingAnswer {
  private readonly ends: SequenceEnd[] = [];

  constructor(
    inner: Answer,
    private readonly store: StoreDocument,
  ) {
    super(inner);
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.ends.push({ span, reason });
    super.endSequence(span, reason);
  }

  override complete(facts: AnswerFacts): void {
    void this.store(this.ends, facts).then(() => super.complete(facts));
  }
}
