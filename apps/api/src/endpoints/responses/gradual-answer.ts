import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BatonError, EndReason } from '@baton/contract';
import type { StreamedResponse } from '@baton/responses';
import type { Answer, AnswerFacts, TokenSpan } from '../../request/answer/answer';

/** An answer that can wait for its client. */
export interface Drained extends Answer {
  /** Resolves when a client that is behind has read what was written, or has left. */
  drained(): Promise<void>;
}

/**
 * An answer whose end may be long: each of its last events then has a turn of the event loop, and
 * waits for a client that is behind.
 */
export class GradualAnswer implements Answer {
  private count = 0;

  constructor(
    private readonly inner: Drained,
    private readonly rendered: StreamedResponse,
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
    this.count = span.from + span.count;
    this.inner.endSequence(span, reason);
  }

  flush(): void {
    this.inner.flush();
  }

  complete(facts: AnswerFacts): void {
    void this.sendAll(facts);
  }

  fail(error: BatonError): void {
    this.inner.fail(error);
  }

  /** A short end goes out at once. */
  private async sendAll(facts: AnswerFacts): Promise<void> {
    while (this.rendered.isLate) {
      this.inner.tokens(0, this.count, 0);
      this.inner.flush();
      await nextTurn();
      await this.inner.drained();
    }
    this.inner.complete(facts);
  }
}
