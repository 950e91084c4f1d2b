import { type Alarm, SystemWallClock, type WallClock } from '@baton/clock';
import type { Topology } from '@baton/policies';
import { readyCounts } from './member-engine';
import type { LiveMembership } from './membership';

/** Time between two checks whether the cluster is complete (wall µs). */
const LOOK_EVERY_US = 50_000;
/** A Node timer is limited to 24 days. */
const LONGEST_SLEEP_US = 3_600_000_000;

/** Waits for instants of the wall clock, until it is stopped: then a wait never ends. */
export class WallPace {
  private alarm: Alarm | undefined;
  private hasStopped = false;

  constructor(private readonly wall: WallClock = new SystemWallClock()) {}

  get isStopped(): boolean {
    return this.hasStopped;
  }

  nowUs(): number {
    return this.wall.nowUs();
  }

  async sleepUntil(wallUs: number): Promise<void> {
    do {
      const untilUs = Math.min(wallUs, this.wall.nowUs() + LONGEST_SLEEP_US);
      await new Promise<void>((resolve) => {
        if (!this.hasStopped) this.alarm = this.wall.at(untilUs, resolve);
      });
    } while (this.wall.nowUs() < wallUs);
  }

  /** Waits until these numbers of engines are ready. */
  async untilComplete(topology: Topology, membership: LiveMembership): Promise<void> {
    while (!(await isComplete(topology, membership))) {
      await this.sleepUntil(this.nowUs() + LOOK_EVERY_US);
    }
  }

  stop(): void {
    this.hasStopped = true;
    this.alarm?.cancel();
  }
}

async function isComplete(topology: Topology, membership: LiveMembership): Promise<boolean> {
  // A failed read is tried again later.
  const engines = await membership.engines().catch(() => []);
  const ready = readyCounts(engines);
  const { prefill, decode, aggregated } = topology;
  return ready.prefill >= prefill && ready.decode >= decode && ready.aggregated >= aggregated;
}
