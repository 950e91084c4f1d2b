import type { FrontEndColumns, RequestLog } from '@baton/analysis';
import { type FrontEnd, passUs } from '@baton/front-end';
import { EventQueue, type Micros } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';

export interface PassedRow {
  readonly row: number;
  /** It passed the server in front of decode. */
  readonly isHandedOver: boolean;
}

/**
 * Requests on their way through the servers in front of the engines: at their arrival, and once
 * more when their prompt is held for decode. The length of a pass follows from the prompt, however
 * many others are under way.
 */
export class FrontEndPasses {
  private readonly underWay = new EventQueue();
  private readonly columns: FrontEndColumns;

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

  arrive(row: number, nowUs: Micros): void {
    this.begin(row, nowUs + this.passUs(row));
  }

  /**
   * The prompt is held. Servers that got the request at once have both passed it by now: their
   * passes are equally long.
   */
  offer(row: number, nowUs: Micros): void {
    this.begin(row, this.frontEnd.dispatch === 'serial' ? nowUs + this.passUs(row) : nowUs);
  }

  /** The row whose pass ends now. */
  take(nowUs: Micros): PassedRow {
    const { enqueuedUs, offeredUs } = this.columns;
    const row = this.underWay.pop();
    const isHandedOver = enqueuedUs[row]! >= 0;
    (isHandedOver ? offeredUs : enqueuedUs)[row] = nowUs;
    this.expect();
    return { row, isHandedOver };
  }

  private passUs(row: number): Micros {
    return passUs(this.frontEnd, this.parts.log.promptTokens[row]!);
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
