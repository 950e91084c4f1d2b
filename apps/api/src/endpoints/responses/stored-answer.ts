import type { BatonError, EndReason } from '@baton/contract';
import type { ResponseForms, ResponseObject } from '@baton/responses';
import type { Answer, AnswerFacts, TokenSpan } from '../../request/answer/answer';
import { PassingAnswer } from '../../request/answer/passing';

/** Stores a response. Neither call rejects: the answer is sent whether it is stored or not. */
export interface Keeper {
  storeStart(): Promise<void>;
  storeEnd(response: ResponseObject): Promise<void>;
}

/**
 * An answer that is stored before its last bytes are sent, so that a client can continue it as soon
 * as it has the end.
 */
export class StoredAnswer extends PassingAnswer {
  private reason: EndReason = 'stop';
  private count = 0;

  constructor(
    inner: Answer,
    private readonly outcome: Pick<ResponseForms, 'endResponse' | 'failed'>,
    private readonly keeper: Keeper,
  ) {
    super(inner);
  }

  override open(): void {
    void this.keeper.storeStart();
    super.open();
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.reason = reason;
    this.count = span.from + span.count;
    super.endSequence(span, reason);
  }

  override complete(facts: AnswerFacts): void {
    const { reason, count } = this;
    const response = this.outcome.endResponse({ reason, count, cachedTokens: facts.cachedTokens });
    void this.keeper.storeEnd(response).then(() => super.complete(facts));
  }

  override fail(error: BatonError): void {
    void this.keeper.storeEnd(this.outcome.failed(error)).then(() => super.fail(error));
  }
}
