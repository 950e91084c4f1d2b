import { BatonError, type EndReason } from '@baton/contract';
import type { FinishedSequence } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { HttpAnswer } from '../../http/http-answer';
import type { Answer, AnswerFacts, TokenSpan } from './answer';

/** An answer in one piece: nothing is sent until the last sequence has ended. */
export class WholeAnswer implements Answer {
  readonly isOverfull = false;
  private readonly results: FinishedSequence[] = [];

  /**
   * @param render gives the body. A thread's comes later; it rejects with an error of the
   *   catalogue, or when the thread has crashed.
   */
  constructor(
    private readonly http: HttpAnswer,
    private readonly plans: readonly OutputPlan[],
    private readonly render: (
      results: FinishedSequence[],
      facts: AnswerFacts,
    ) => string | Promise<Uint8Array>,
  ) {}

  open(): void {}

  tokens(): void {}

  endSequence({ index, from, count }: TokenSpan, reason: EndReason): void {
    const plan = this.plans[index];
    if (plan) this.results[index] = { plan, reason, count: from + count };
  }

  flush(): void {}

  complete(facts: AnswerFacts): void {
    const body = this.render(this.results, facts);
    if (typeof body === 'string') this.http.sendJson(body);
    else
      void body
        .then((bytes) => this.http.sendJson(bytes))
        .catch((error: unknown) =>
          this.fail(error instanceof BatonError ? error : new BatonError('engine_error')),
        );
  }

  fail(error: BatonError): void {
    this.http.sendError(error);
  }
}
