import type { Alarm, LiveClock } from '@baton/clock';
import type { Micros } from '@baton/kernel';

/** One alarm on simulated time that follows a deadline which moves. */
export class WakeUp {
  private alarm: Alarm | undefined;
  private dueUs: Micros | undefined;

  constructor(
    private readonly clock: LiveClock,
    private readonly ring: () => void,
  ) {}

  /**
   * Rings at `dueUs` unless told otherwise before; undefined: not at all. An alarm that only moved
   * back rings early, and is set again.
   */
  set(dueUs: Micros | undefined): void {
    if (dueUs === undefined || (this.dueUs !== undefined && this.dueUs <= dueUs)) return;
    this.cancel();
    this.dueUs = dueUs;
    this.alarm = this.clock.atSim(dueUs, () => {
      this.cancel();
      this.ring();
    });
  }

  cancel(): void {
    this.alarm?.cancel();
    this.alarm = undefined;
    this.dueUs = undefined;
  }
}
