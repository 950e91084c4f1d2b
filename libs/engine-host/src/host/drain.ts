import { LiveClock } from '@baton/clock';
import { Injectable } from '@nestjs/common';
import { HeldKv } from '../prefill/held-kv';
import { Endings } from '../run/endings/endings';
import { EngineSlot } from '../run/engine/engine-slot';
import { type Run, RunTable } from '../run/runs/run';

/** Wall µs between two checks of the remaining work. */
const LOOK_EVERY_US = 20_000;

/**
 * Drains an engine that leaves. Jobs that have not started go back to their queue immediately.
 * Until the deadline, runs can finish and held KV can be fetched; then the rest goes back.
 */
@Injectable()
export class EngineDrain {
  /** Wall µs; jobs whose runs have not ended by then go back to their queue. */
  private deadlineUs = Infinity;

  constructor(
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly heldKv: HeldKv,
    private readonly endings: Endings,
  ) {}

  endWithin(timeoutMs: number): void {
    const endUs = this.clock.wall.nowUs() + timeoutMs * 1_000;
    this.deadlineUs = Math.min(this.deadlineUs, endUs);
  }

  async run(): Promise<void> {
    const { wall } = this.clock;
    const waiting = this.withdraw((run) => !run.isScheduled);
    while (!this.isAtRest() && wall.nowUs() < this.deadlineUs) {
      await new Promise<void>((resolve) => wall.at(wall.nowUs() + LOOK_EVERY_US, resolve));
    }
    await Promise.all([...waiting, ...this.withdraw(() => true)]);
  }

  private isAtRest(): boolean {
    return this.runs.size === 0 && this.heldKv.awaited() === 0;
  }

  private withdraw(isMeant: (run: Run) => boolean): Promise<void>[] {
    const withdrawn: Promise<void>[] = [];
    const { runs, slot, endings } = this;
    for (const run of runs.all()) {
      if (isMeant(run)) slot.guard(() => withdrawn.push(endings.withdrawRun(run)));
    }
    return withdrawn;
  }
}
