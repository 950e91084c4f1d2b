import type { BatonError, EndReason } from '@baton/contract';
import type { HttpAnswer } from '../../http/http-answer';
import type { Answer, AnswerFacts, TokenSpan } from './answer';

/** The end of a sequence: its reason and its tokens. */
export interface SequenceEnd {
  readonly span: TokenSpan;
  readonly reason: EndReason;
}

/** An answer in one piece, written by a thread. */
export class ThreadedAnswer implements Answer {
  readonly isOverfull = false;
  private readonly ends: SequenceEnd[] = [];

  /** @param render resolves to the body; rejects with an error of the catalogue */
  constructor(
    private readonly http: HttpAnswer,
    private readonly render: (
      ends: readonly SequenceEnd[],
      facts: AnswerFacts,
    ) => Promise<Uint8Array>,
  ) {}

  open(): void {}

  tokens(): void {}

  endSequence(span: TokenSpan, reason: EndReason): void {
    this.ends.push({ span, reason });
  }

  flush(): void {}

  complete(facts: AnswerFacts): void {
    this.render(this.ends, facts).then(
      (body) => this.http.sendJson(body),
      (error: BatonError) => this.http.sendError(error),
    );
  }

  fail(error: BatonError): void {
    this.http.sendError(error);
  }
}
