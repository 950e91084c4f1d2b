import { setTimeout as delay } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Aborter } from '../../frames/aborter';
import { SequenceTable } from '../../sequences/sequence-table';
import { ReaderWatch } from '../../http/streaming/reader-watch';
import { Observers } from '../../observers/port/observers';
import { Legs } from '../../routers/legs';
import type { Admission, PlannedRequest } from '../admit/admission';
import { AdmissionGate } from '../admit/admission-gate';
import { Exchange, type ExchangeHost, type ExchangeParts } from './exchange';
import { JobPlacement } from './job-placement';

/** Interval of the checks whether requests have ended. */
const SETTLED_CHECK_MS = 20;

type Parts = Pick<ExchangeParts, 'head' | 'jobs' | 'answer'>;

/** Owns the exchanges of this process with unfinished answers. */
@Injectable()
export class Exchanges implements ExchangeHost {
  private readonly live = new Set<Exchange>();

  constructor(
    readonly table: SequenceTable,
    readonly gate: AdmissionGate,
    readonly aborter: Aborter,
    readonly observers: Observers,
    private readonly placement: JobPlacement,
    private readonly legs: Legs,
    private readonly readers: ReaderWatch,
  ) {}

  /** Opens the exchange of a request. It ends with the connection. */
  open(admission: PlannedRequest, parts: Parts): Exchange {
    const { call, checked, leg, plans } = admission;
    const { request } = checked;
    const exchange = new Exchange(this, {
      ...parts,
      call,
      request,
      plans,
      heldAs: 'shows' in leg ? this.legs.heldAs(leg, request) : undefined,
    });
    this.follow(exchange, admission);
    for (const sequence of exchange.sequences) {
      sequence.waitingIn = admission.routes[0]!.stage;
      if (sequence.job.placed !== undefined) this.placement.opened(sequence);
    }
    this.observers.opened(exchange);
    return exchange;
  }

  /** Requests under way. */
  get count(): number {
    return this.live.size;
  }

  /** Ends these requests, or all of them, with their output so far. Returns their number. */
  abort(names: readonly string[] | undefined): number {
    const meant = [...this.live].filter(
      (exchange) => names === undefined || names.some((name) => exchange.isNamed(name)),
    );
    for (const exchange of meant) exchange.abort();
    return meant.length;
  }

  /** Resolves when all requests that are now under way have ended. */
  async settled(): Promise<void> {
    const before = [...this.live];
    while (before.some((exchange) => this.live.has(exchange))) await delay(SETTLED_CHECK_MS);
  }

  /** Ends all exchanges under way. */
  endAll(): void {
    for (const exchange of this.live) exchange.fail(new BatonError('shutting_down'));
  }

  /** Follows the exchange to the end of its connection. */
  private follow(exchange: Exchange, { call: { response }, charge }: Admission): void {
    this.live.add(exchange);
    response.once('close', () => {
      this.live.delete(exchange);
      exchange.clientLeft();
      charge?.settle(exchange.usedTokens);
    });
    this.readers.watch(response, () => exchange.hangUpOnSlowReader());
  }
}
