import { Injectable } from '@nestjs/common';
import { Aborter } from '../../frames/aborter';
import { SequenceTable } from '../../frames/sequence-table';
import { Observers } from '../../observers/port/observers';
import { Legs } from '../../routers/legs';
import type { Admission } from '../admit/admission';
import { AdmissionGate } from '../admit/admission-gate';
import { AnswerOpener } from './answer-opener';
import { Exchange, type ExchangeHost } from './exchange';
import { LiveExchanges } from './live-exchanges';

/** Ties the answer on a client's connection to the exchange that will write it. */
@Injectable()
export class Exchanges implements ExchangeHost {
  constructor(
    readonly table: SequenceTable,
    readonly gate: AdmissionGate,
    readonly aborter: Aborter,
    readonly observers: Observers,
    private readonly answers: AnswerOpener,
    private readonly legs: Legs,
    private readonly live: LiveExchanges,
  ) {}

  /** Opens the exchange of a request, still without sequences. It ends with the connection. */
  open(admission: Admission): Exchange {
    const { call, asked, leg, charge } = admission;
    const head = this.answers.headOf(admission);
    const isClosing = (): boolean => this.live.isClosing;
    const exchange = new Exchange(this, {
      call,
      head,
      request: asked.request,
      heldAs: leg.kind === 'none' && leg.told === undefined ? undefined : this.legs.heldAs(leg),
      answer: (fail) => this.answers.open(admission, head, { isClosing, fail }),
    });
    this.live.add(exchange);
    if (charge) call.response.once('close', () => charge.settle(exchange.usedTokens));
    return exchange;
  }
}
