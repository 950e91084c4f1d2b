import type { BatonError, EndReason } from '@baton/contract';
import type { Answer, AnswerFacts, TokenSpan } from './answer';
import type { SequenceEnd } from './threaded';

/** Stores a finished answer. Does not reject: the answer is sent whether it is stored or not. */
export type Keep = (ends: readonly SequenceEnd[], facts: AnswerFacts) => Promise<void>;

/** An answer that is stored before its last bytes are sent, so that the client finds it at once. */
export class KeptAnswer implements Answer {
  private readonly ends: SequenceEnd[] = [];

  constructor(
    private readonly inner: Answer,
    private readonly keep: Keep,
  ) {}

  get isOverfull(): boolean {
    return this.inner.isOverfull;
  }

  open(): void {
    this.inner.open();
  }

  tokens(index: number, from: number, count: number): void {
    this.inner.tokens(index, from, count);
  }

  endSequence(span: TokenSpan, reason: EndReason): void {
    this.ends.push({ span, reason });
    this.inner.endSequence(span, reason);
  }

  flush(): void {
    this.inner.flush();
  }

  complete(facts: AnswerFacts): void {
    void this.keep(this.ends, facts).then(() => this.inner.complete(facts));
  }

  fail(error: BatonError): void {
    this.inner.fail(error);
  }
}
