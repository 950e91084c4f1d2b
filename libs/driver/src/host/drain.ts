import type { PrefillSide } from '../handover/prefill-side';
import type { Endings } from '../jobs/endings';
import type { Run } from '../jobs/run';
import type { HostContext } from './host-context';

export interface DrainSides {
  readonly endings: Endings;
  readonly prefill: PrefillSide;
}

/** Wall µs between two looks at what is left. */
const LOOK_EVERY_US = 20_000;

/** How an engine leaves: what has not started goes back at once, what runs may finish, what is held may be fetched, the rest goes back. */
export class Drain {
  /** Wall µs; what still runs then goes back. */
  private deadlineUs = Infinity;

  constructor(
    private readonly context: HostContext,
    private readonly sides: DrainSides,
  ) {}

  endWithin(timeoutMs: number): void {
    const endUs = this.context.clock.wall.nowUs() + timeoutMs * 1_000;
    this.deadlineUs = Math.min(this.deadlineUs, endUs);
  }

  async run(): Promise<void> {
    const { wall } = this.context.clock;
    const waiting = this.withdraw((run) => !run.isScheduled);
    while (!this.isAtRest() && wall.nowUs() < this.deadlineUs) {
      await new Promise<void>((resolve) => wall.at(wall.nowUs() + LOOK_EVERY_US, resolve));
    }
    await Promise.all([...waiting, ...this.withdraw(() => true)]);
  }

  private isAtRest(): boolean {
    return this.context.runs.size === 0 && this.sides.prefill.awaitedHoldings() === 0;
  }

  private withdraw(isMeant: (run: Run) => boolean): Promise<void>[] {
    const withdrawn: Promise<void>[] = [];
    for (const run of this.context.runs.all()) {
      if (run.state === 'moving-on' || !isMeant(run)) continue;
      this.context.guard(() => withdrawn.push(this.sides.endings.withdraw(run)));
    }
    return withdrawn;
  }
}
