import type { Alarm } from '@baton/clock';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  Optional,
} from '@nestjs/common';
import { TargetSide } from '../decode/target-side';
import { FinishedRuns } from '../run/endings/finished-runs';
import { EngineSlot } from '../run/engine/engine-slot';
import { Executor } from '../run/jobs/executor';
import { Broker, Log, Wall } from '../run/tokens';
import { Inspection } from './inspection';

const SWEEP_EVERY_US = 1_000_000;

/**
 * Finds changes without a message, once a second. It ends requests that were aborted, taken over or
 * orphaned, drops KV sources that left the cluster, and stores results that could not be stored
 * before.
 */
@Injectable()
export class Sweep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private alarm: Alarm | undefined;
  private isSweeping = false;

  constructor(
    private readonly transport: Broker,
    private readonly wall: Wall,
    private readonly slot: EngineSlot,
    private readonly finished: FinishedRuns,
    private readonly inspection: Inspection,
    private readonly target: TargetSide,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
  ) {}

  onApplicationBootstrap(): void {
    this.alarm = this.wall.onTicks(SWEEP_EVERY_US, () => void this.sweep());
  }

  beforeApplicationShutdown(): void {
    this.alarm?.cancel();
  }

  private async sweep(): Promise<void> {
    const { transport, log, finished, inspection } = this;
    if (this.isSweeping || !transport.isConnected) return;
    this.isSweeping = true;
    try {
      finished.forgetOld();
      await inspection.inspectRuns();
      await inspection.inspectHoldings();
      await inspection.inspectPaired();
      await this.inspectSources();
      await finished.storeAgain();
    } catch (error) {
      log.debug({ err: error }, 'a sweep over the runs failed; the next one retries');
    } finally {
      this.isSweeping = false;
    }
  }

  private async inspectSources(): Promise<void> {
    const { target, executor, transport, slot } = this;
    const sources = [...target.sources(), ...(executor?.sources() ?? [])];
    if (sources.length === 0) return;
    const engines = await transport.presence.engines();
    target.onLiving(engines);
    const living = new Set(engines.map((engine) => engine.engineId));
    for (const source of sources) {
      if (living.has(source)) continue;
      slot.guard(() => target.onSourceLost(source));
      slot.guard(() => executor?.onSourceLost(source));
    }
  }
}
