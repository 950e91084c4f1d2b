import { type Alarm, SystemWallClock, type WallClock } from '@baton/clock';
import type { BatonConfig } from '@baton/config';
import { BatonError, type Stage } from '@baton/contract';
import {
  formatChanges,
  parseTopology,
  type ScheduledChange,
  type Topology,
} from '@baton/placement';
import { configuredChanges } from './configured-changes';
import { memberLoad, readyCounts } from './member-engine';
import type { LiveMembership } from './membership';

export interface ChangeScheduleOptions {
  readonly config: BatonConfig;
  readonly membership: LiveMembership;
  /** One sentence about each change. */
  readonly say: (sentence: string) => void;
  /** The machine's by default. */
  readonly wall?: WallClock;
}

/** Between two checks whether the cluster is complete (wall µs). */
const LOOK_EVERY_US = 50_000;
/** A timer of the machine holds no more than 24 days. */
const LONGEST_SLEEP_US = 3_600_000_000;

/**
 * Carries out the configured changes of a live cluster, each at its instant after all engines of
 * the topology were ready.
 */
export class ChangeSchedule {
  private readonly wall: WallClock;
  private readonly changes: readonly ScheduledChange[];
  private readonly topology: Topology;
  private alarm: Alarm | undefined;
  private isStopped = false;

  /** @throws UsageError as `configuredChanges` */
  constructor(private readonly options: ChangeScheduleOptions) {
    this.wall = options.wall ?? new SystemWallClock();
    this.changes = configuredChanges(options.config);
    this.topology = parseTopology(options.config.topology);
  }

  /** Resolves after the last change, or never once it was stopped. */
  async run(): Promise<void> {
    if (this.changes.length === 0) return;
    while (!(await this.isComplete())) await this.sleepUntil(this.wall.nowUs() + LOOK_EVERY_US);
    const startUs = this.wall.nowUs();
    for (const change of this.changes) {
      await this.sleepUntil(startUs + change.atUs / this.options.config.speedup);
      await this.carryOut(change);
    }
  }

  stop(): void {
    this.isStopped = true;
    this.alarm?.cancel();
  }

  private async sleepUntil(wallUs: number): Promise<void> {
    do {
      const untilUs = Math.min(wallUs, this.wall.nowUs() + LONGEST_SLEEP_US);
      await new Promise<void>((resolve) => {
        if (!this.isStopped) this.alarm = this.wall.at(untilUs, resolve);
      });
    } while (this.wall.nowUs() < wallUs);
  }

  private async isComplete(): Promise<boolean> {
    // A board that cannot be read now can be later.
    const engines = await this.options.membership.engines().catch(() => []);
    const ready = readyCounts(engines);
    const { prefill, decode, aggregated } = this.topology;
    return ready.prefill >= prefill && ready.decode >= decode && ready.aggregated >= aggregated;
  }

  private async carryOut(change: ScheduledChange): Promise<void> {
    const name = formatChanges([change]);
    try {
      if (change.kind === 'join') await this.options.membership.join(change.role, change.count);
      else for (let i = 0; i < change.count; i += 1) await this.release(change);
      this.options.say(`change ${name}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.options.say(`change ${name} was not carried out: ${why}`);
    }
  }

  private async release(change: Exclude<ScheduledChange, { kind: 'join' }>): Promise<void> {
    const { membership } = this.options;
    const engineId = await this.leastBusy(change.role);
    if (change.kind === 'become') await membership.become(engineId, change.to);
    else await membership.leave(engineId);
  }

  /** Of those that are ready, the one with the least to do; as the virtual clock chooses. */
  private async leastBusy(role: Stage): Promise<string> {
    const engines = await this.options.membership.engines();
    const [first, ...others] = engines.filter(
      (engine) => engine.role === role && engine.state === 'ready',
    );
    if (first === undefined) throw new BatonError('no_engine', `no ${role} engine is ready.`);
    return others.reduce((best, each) => (memberLoad(each) < memberLoad(best) ? each : best), first)
      .engineId;
  }
}
