import type { BatonError, EndReason } from '@baton/contract';
import type { FinishedSequence } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { HttpAnswer } from '../../http/http-answer';
import type { Answer, AnswerFacts, TokenSpan } from './answer';

/** An answer in one piece: nothing is sent until the last sequence has ended. */
export class WholeAnswer implements Answer {
  readonly isOverfull = false;
  private readonly results: FinishedSequence[] = [];

  constructor(
    private readonly http: HttpAnswer,
    private readonly plans: readonly OutputPlan[],
    private readonly render: (results: FinishedSequence[], facts: AnswerFacts) => string,
  ) {}

  open(): void {}

  tokens(): void {}

  endSequence({ index, from, count }: TokenSpan, reason: EndReason): void {
    const plan = this.plans[index];
    if (plan) this.results[index] = { plan, reason, count: from + count };
  }

  flush(): void {}

  complete(facts: AnswerFacts): void {
    this.http.sendJson(this.render(this.results, facts));
  }

  fail(error: BatonError): void {
    this.http.sendError(error);
  }
}
