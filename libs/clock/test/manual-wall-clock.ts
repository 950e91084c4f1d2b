import type { Alarm, WallClock } from '../src/wall-clock';

interface PendingAlarm {
  readonly wallUs: number;
  readonly order: number;
  readonly ring: () => void;
}

/** At most this many turns of the event loop for promises and messages between two alarms. */
const SETTLING_TURNS = 12;

/**
 * A wall clock that only a test advances, so that the live worker runs with exact, repeatable
 * times.
 */
export class ManualWallClock implements WallClock {
  private now: number;
  private order = 0;
  private readonly alarms = new Set<PendingAlarm>();

  constructor(startUs = 1_700_000_000_000_000) {
    this.now = startUs;
  }

  nowUs(): number {
    return this.now;
  }

  at(wallUs: number, ring: () => void): Alarm {
    const alarm = { wallUs, order: this.order++, ring };
    this.alarms.add(alarm);
    return { cancel: () => this.alarms.delete(alarm) };
  }

  around(wallUs: number, ring: () => void): Alarm {
    return this.at(wallUs, ring);
  }

  /** Timers are never slow here. */
  onTicks(periodUs: number, ring: () => void): Alarm {
    let alarm: Alarm;
    const arm = (): void => {
      alarm = this.at(this.now + periodUs, () => {
        arm();
        ring();
      });
    };
    arm();
    return { cancel: () => alarm.cancel() };
  }

  soon(turn: () => void): void {
    setImmediate(turn);
  }

  /**
   * Jumps without ringing the alarms on the way, like a stopped process; `advance` rings them late.
   */
  skip(byUs: number): void {
    this.now += byUs;
  }

  /**
   * Moves on by `byUs`, ringing each alarm at its instant and letting promises and messages settle
   * after each.
   */
  async advance(byUs: number): Promise<void> {
    const until = this.now + byUs;
    await settle();
    await this.ringUpTo(until);
  }

  /** As `advance`, in this turn of the event loop: nothing settles between two alarms. */
  advanceAtOnce(byUs: number): void {
    const until = this.now + byUs;
    for (let next = this.nextUpTo(until); next; next = this.nextUpTo(until)) {
      this.alarms.delete(next);
      this.now = Math.max(this.now, next.wallUs);
      next.ring();
    }
    this.now = until;
  }

  /** Advances in steps until `isReached`; false when `limitUs` pass without it. */
  async advanceUntil(isReached: () => boolean, limitUs: number): Promise<boolean> {
    const until = this.now + limitUs;
    await settle();
    while (!isReached()) {
      const next = this.nextUpTo(until);
      if (!next) return false;
      await this.ringUpTo(Math.max(this.now, next.wallUs));
    }
    return true;
  }

  private async ringUpTo(until: number): Promise<void> {
    for (let next = this.nextUpTo(until); next; next = this.nextUpTo(until)) {
      this.alarms.delete(next);
      this.now = Math.max(this.now, next.wallUs);
      next.ring();
      await settle();
    }
    this.now = until;
  }

  private nextUpTo(untilUs: number): PendingAlarm | undefined {
    let first: PendingAlarm | undefined;
    for (const alarm of this.alarms) {
      if (alarm.wallUs > untilUs) continue;
      if (!first || isBefore(alarm, first)) first = alarm;
    }
    return first;
  }
}

function isBefore(a: PendingAlarm, b: PendingAlarm): boolean {
  return a.wallUs === b.wallUs ? a.order < b.order : a.wallUs < b.wallUs;
}

/**
 * Runs everything that waits only for the event loop: turns, until one leaves nothing for the next.
 */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLING_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
  }
}
