import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EndReason } from '@baton/contract';
import type { StreamedResponse } from '@baton/responses';
import type { AnswerFacts, TokenSpan } from '../../request/answer/answer';
import { PassingAnswer } from '../../request/answer/passing';
import { sendLater } from '../../request/answer/send-later';
import type { StreamAnswer } from '../../request/answer/stream';
import type { Log } from '../../tokens';

/**
 * An answer whose end can be long: each piece of it then has a turn of the event loop and waits for
 * a client that is behind.
 */
export class GradualAnswer extends PassingAnswer<StreamAnswer> {
  private count = 0;

  constructor(
    inner: StreamAnswer,
    private readonly rendered: StreamedResponse,
    private readonly logger: Log,
  ) {
    super(inner);
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.count = span.from + span.count;
    super.endSequence(span, reason);
  }

  override complete(facts: AnswerFacts): void {
    sendLater(this.sendAll(facts), { answer: this.inner, logger: this.logger });
  }

  /** A short end is sent in one write. */
  private async sendAll(facts: AnswerFacts): Promise<void> {
    this.rendered.keepEnd(facts);
    while (this.rendered.isLate) {
      this.inner.tokens(0, this.count, 0);
      this.inner.flush();
      await nextTurn();
      await this.inner.drained();
    }
    super.complete(facts);
  }
}
