import type { Micros } from '@baton/kernel';
import { CalendarClock } from './calendar-clock';

/** A leap year, so that each day of a log exists. */
const FIRST_YEAR = 2000;

/** Reads the times of vLLM's logger, `02-13 11:33:33`, which have no year. */
export class LoggerClock {
  private readonly clock = new CalendarClock();
  private year = FIRST_YEAR;
  private month = 0;

  /** µs. NaN for an invalid time. */
  read(month: string, day: string, time: string): Micros {
    // A lower month than before means a new year.
    if (Number(month) < this.month) this.year += 1;
    this.month = Number(month);
    return this.clock.read(`${this.year}-${month}-${day} ${time}`);
  }
}
