import type { BatonError, EndReason } from '@baton/contract';
import type { ResponseObject, ResponseOutcome } from '@baton/responses';
import type { Answer, AnswerFacts, TokenSpan } from '../../request/answer/answer';

/** Stores a response. Neither call rejects: the answer is sent whether it is stored or not. */
export interface Keeper {
  begun(): Promise<void>;
  ended(response: ResponseObject): Promise<void>;
}

/**
 * An answer that is stored before its last bytes are sent, so that a client can continue it as soon
 * as it has the end.
 */
export class StoredAnswer implements Answer {
  private reason: EndReason = 'stop';
  private count = 0;

  constructor(
    private readonly inner: Answer,
    private readonly outcome: ResponseOutcome,
    private readonly keeper: Keeper,
  ) {}

  get isOverfull(): boolean {
    return this.inner.isOverfull;
  }

  open(): void {
    void this.keeper.begun();
    this.inner.open();
  }

  tokens(index: number, from: number, count: number): void {
    this.inner.tokens(index, from, count);
  }

  endSequence(span: TokenSpan, reason: EndReason): void {
    this.reason = reason;
    this.count = span.from + span.count;
    this.inner.endSequence(span, reason);
  }

  flush(): void {
    this.inner.flush();
  }

  complete(facts: AnswerFacts): void {
    const { reason, count } = this;
    const response = this.outcome.ended({ reason, count, cachedTokens: facts.cachedTokens });
    void this.keeper.ended(response).then(() => this.inner.complete(facts));
  }

  fail(error: BatonError): void {
    void this.keeper.ended(this.outcome.failed(error)).then(() => this.inner.fail(error));
  }
}
