import type { FrontEndColumns, RequestLog } from '@baton/analysis';
import { busyUs, type FrontEnd, passUs } from '@baton/step-time';
import { EventQueue, type Micros } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import { ServerQueue } from './server-queue';

export interface PassedRow {
  readonly row: number;
  /** True when it passed the server in front of decode. */
  readonly isHandedOver: boolean;
}

interface Entering {
  readonly row: number;
  readonly nowUs: Micros;
  readonly engines: number;
}

/**
 * Requests on their way through the servers in front of the engines: at arrival, and again when
 * their prompt is held for decode. A pass begins when a server is free; its length depends on the
 * prompt.
 */
export class FrontEndPasses {
  private readonly underWay = new EventQueue();
  private readonly columns: FrontEndColumns;
  /** The queues in front of the engines for new requests, and in front of the decode engines. */
  private readonly arriving = new ServerQueue();
  private readonly handedOver = new ServerQueue();

  constructor(
    private readonly frontEnd: FrontEnd,
    private readonly parts: {
      readonly calendar: Calendar;
      readonly log: RequestLog;
      readonly slot: number;
    },
  ) {
    this.columns = parts.log.frontEnd!;
  }

  /** @param engines  that take new requests, each with its own servers */
  arrive(row: number, nowUs: Micros, engines: number): void {
    this.begin(row, this.pass(this.arriving, { row, nowUs, engines }));
  }

  /**
   * Starts the pass of a request whose prompt is held. Where both servers got the request at its
   * arrival, both passes have ended by now, because they are equally long.
   *
   * @param engines  that decode, each with its own servers
   */
  offer(row: number, nowUs: Micros, engines: number): void {
    const isSerial = this.frontEnd.dispatch === 'serial';
    this.begin(row, isSerial ? this.pass(this.handedOver, { row, nowUs, engines }) : nowUs);
  }

  /** The row whose pass ends now. */
  take(nowUs: Micros): PassedRow {
    const { enqueuedUs, offeredUs } = this.columns;
    const row = this.underWay.pop();
    const isHandedOver = enqueuedUs.at(row) >= 0;
    (isHandedOver ? offeredUs : enqueuedUs).set(row, nowUs);
    this.expect();
    return { row, isHandedOver };
  }

  /** Starts the pass of the request that is first in the queue. */
  private pass(queue: ServerQueue, { row, nowUs, engines }: Entering): Micros {
    const { frontEnd } = this;
    const tokens = this.parts.log.promptTokens[row]!;
    const servers = Math.max(1, engines) * frontEnd.serversPerEngine;
    const startUs = queue.begin(nowUs, { busyUs: busyUs(frontEnd, tokens), servers });
    return startUs + passUs(frontEnd, tokens);
  }

  private begin(row: number, dueUs: Micros): void {
    this.underWay.push(dueUs, 0, row);
    this.expect();
  }

  private expect(): void {
    const { calendar, slot } = this.parts;
    const dueUs = this.underWay.peekTimeUs();
    if (dueUs === Infinity) calendar.clear(slot);
    else calendar.set(slot, dueUs, TIE.arrival);
  }
}
