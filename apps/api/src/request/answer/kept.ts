import type { EndReason } from '@baton/contract';
import type { Answer, AnswerFacts, TokenSpan } from './answer';
import { PassingAnswer } from './passing';
import type { SequenceEnd } from './threaded';

/** Stores a finished answer. Does not reject: the answer is sent whether it is stored or not. */
export type Keep = (ends: readonly SequenceEnd[], facts: AnswerFacts) => Promise<void>;

/**
 * An answer that is stored before its last bytes are sent, so that the client can read it as soon
 * as it ends.
 */
export class KeptAnswer extends PassingAnswer {
  private readonly ends: SequenceEnd[] = [];

  constructor(
    inner: Answer,
    private readonly keep: Keep,
  ) {
    super(inner);
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.ends.push({ span, reason });
    super.endSequence(span, reason);
  }

  override complete(facts: AnswerFacts): void {
    void this.keep(this.ends, facts).then(() => super.complete(facts));
  }
}
