import type { WallClock } from '@baton/clock';
import { type BatonConfig, configuredChanges } from '@baton/config';
import { reasonOf } from '@baton/kernel';
import { formatChanges, parseTopology, type ScheduledChange, type Topology } from '@baton/policies';
import { carryOut } from './carry-out';
import type { LiveMembership } from './membership';
import { WallPace } from './wall-pace';

export interface ChangeScheduleOptions {
  readonly config: BatonConfig;
  readonly membership: LiveMembership;
  /** Reports each change in one sentence. */
  readonly say: (sentence: string) => void;
  /** Default: the machine's clock. */
  readonly wall?: WallClock;
}

/**
 * Carries out the configured changes of a live cluster, each at its instant after all engines of
 * the topology were ready.
 */
export class ChangeSchedule {
  private readonly pace: WallPace;
  private readonly changes: readonly ScheduledChange[];
  private readonly topology: Topology;

  /** @throws UsageError as `configuredChanges` */
  constructor(private readonly options: ChangeScheduleOptions) {
    this.pace = new WallPace(options.wall);
    this.changes = configuredChanges(options.config);
    this.topology = parseTopology(options.config.topology);
  }

  /** Resolves after the last change, or never once it was stopped. */
  async run(): Promise<void> {
    if (this.changes.length === 0) return;
    await this.pace.untilComplete(this.topology, this.options.membership);
    const startUs = this.pace.nowUs();
    for (const change of this.changes) {
      await this.pace.sleepUntil(startUs + change.atUs / this.options.config.speedup);
      await this.carryOut(change);
    }
  }

  stop(): void {
    this.pace.stop();
  }

  private async carryOut(change: ScheduledChange): Promise<void> {
    const name = formatChanges([change]);
    try {
      await carryOut(change, this.options.membership);
      this.options.say(`change ${name}`);
    } catch (error) {
      this.options.say(`change ${name} was not carried out: ${reasonOf(error)}`);
    }
  }
}
