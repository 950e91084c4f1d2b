import type { Alarm, WallClock } from '@baton/clock';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { FinishedRuns } from '../endings/finished-runs';
import type { SourceTimeout } from '../handoff/source-timeout';
import type { TargetSide } from '../handoff/target-side';
import type { Executor } from '../jobs/executor';
import type { Inspection } from './inspection';

const SWEEP_EVERY_US = 1_000_000;

export interface SweepParts {
  readonly transport: Pick<Transport, 'isConnected' | 'presence'>;
  readonly wall: WallClock;
  readonly slot: EngineSlot;
  readonly finished: FinishedRuns;
  readonly inspection: Inspection;
  readonly target: TargetSide;
  readonly sourceTimeout: SourceTimeout;
  /** Undefined: the engine does the work. */
  readonly executor: Executor | undefined;
  readonly log: Logger;
}

/**
 * Finds changes without a message, once a second. It ends requests that were aborted, taken over or
 * orphaned, drops KV sources that left the cluster, and stores results that could not be stored
 * before.
 */
export class Sweep {
  private alarm: Alarm | undefined;
  private isSweeping = false;

  constructor(private readonly parts: SweepParts) {}

  start(): void {
    this.alarm = this.parts.wall.onTicks(SWEEP_EVERY_US, () => void this.sweep());
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private async sweep(): Promise<void> {
    const { transport, log, finished, inspection } = this.parts;
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
    const { target, sourceTimeout, executor, transport, slot } = this.parts;
    const sources = [...target.sources(), ...(executor?.sources() ?? [])];
    if (sources.length === 0) return;
    const engines = await transport.presence.engines();
    sourceTimeout.onLiving(engines);
    const living = new Set(engines.map((engine) => engine.engineId));
    for (const source of sources) {
      if (living.has(source)) continue;
      slot.guard(() => target.onSourceLost(source));
      slot.guard(() => executor?.onSourceLost(source));
    }
  }
}
