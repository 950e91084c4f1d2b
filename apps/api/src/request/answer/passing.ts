import type { BatonError, EndReason } from '@baton/contract';
import type { Answer, AnswerFacts, TokenSpan } from './answer';

/** An answer that passes all it gets on to another; those that add a step extend it. */
export abstract class PassingAnswer<Inner extends Answer = Answer> implements Answer {
  constructor(protected readonly inner: Inner) {}

  get isOverfull(): boolean {
    return this.inner.isOverfull;
  }

  open(): void {
    this.inner.open();
  }

  tokens(index: number, from: number, count: number): void {
    this.inner.tokens(index, from, count);
  }

  executed(payload: string): void {
    this.inner.executed?.(payload);
  }

  endSequence(span: TokenSpan, reason: EndReason): void {
    this.inner.endSequence(span, reason);
  }

  flush(): void {
    this.inner.flush();
  }

  complete(facts: AnswerFacts): void {
    this.inner.complete(facts);
  }

  fail(error: BatonError): void {
    this.inner.fail(error);
  }
}
