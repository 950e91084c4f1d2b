import type { BatonError, EndReason } from '@baton/contract';
import type { FinishedSequence } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { Answer, AnswerFacts, TokenSpan } from '../../request/answer/answer';

/** Keeps the finished sequences of an answer. Never rejects: the answer goes out, kept or not. */
export type Keep = (results: readonly FinishedSequence[], facts: AnswerFacts) => Promise<void>;

/** An answer that is kept before its last bytes go out, so that a client finds it at once. */
export class KeptAnswer implements Answer {
  private readonly results: FinishedSequence[] = [];

  constructor(
    private readonly inner: Answer,
    private readonly plans: readonly OutputPlan[],
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
    const { index, from, count } = span;
    const plan = this.plans[index];
    if (plan) this.results[index] = { plan, reason, count: from + count };
    this.inner.endSequence(span, reason);
  }

  flush(): void {
    this.inner.flush();
  }

  complete(facts: AnswerFacts): void {
    void this.keep(this.results, facts).then(() => this.inner.complete(facts));
  }

  fail(error: BatonError): void {
    this.inner.fail(error);
  }
}
