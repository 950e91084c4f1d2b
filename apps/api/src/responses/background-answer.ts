import type { ServerResponse } from 'node:http';
import type { BatonError, EndReason } from '@baton/contract';
import type { Answer, AnswerFacts, TokenSpan } from '../generation/answer';

/** An answer that is made whether somebody listens or not. Who listens too slowly is left behind. */
export class BackgroundAnswer implements Answer {
  readonly isOverfull = false;

  /**
   * @param stub what the exchange takes for the client's response; it closes with the answer
   * @param listener the stream of a client that wants to hear it right away
   */
  constructor(
    private readonly stub: ServerResponse,
    private listener: { readonly answer: Answer; readonly response: ServerResponse } | undefined,
  ) {
    listener?.response.once('close', () => (this.listener = undefined));
  }

  open(): void {
    this.listener?.answer.open();
  }

  tokens(index: number, from: number, count: number): void {
    this.listener?.answer.tokens(index, from, count);
  }

  finish(span: TokenSpan, reason: EndReason): void {
    this.listener?.answer.finish(span, reason);
  }

  flush(): void {
    const { listener } = this;
    listener?.answer.flush();
    if (listener?.answer.isOverfull === true) listener.response.destroy();
  }

  complete(facts: AnswerFacts): void {
    this.listener?.answer.complete(facts);
    this.stub.emit('close');
  }

  fail(error: BatonError): void {
    this.listener?.answer.fail(error);
    this.stub.emit('close');
  }
}
