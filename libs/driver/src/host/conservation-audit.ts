import type { EngineSlot } from '@baton/live-engine';
import type { EngineStats } from '@baton/telemetry';
import type { DriverOptions } from '../options';

export interface ConservationAuditParts {
  readonly options: Pick<DriverOptions, 'facts'>;
  readonly slot: EngineSlot;
  readonly stats: EngineStats;
}

/** Looks for lost KV blocks: an engine without a sequence and without held blocks has all free. */
export class ConservationAudit {
  private lost = 0;

  constructor(private readonly parts: ConservationAuditParts) {}

  /** Of the last look at the idle engine; looks now if it is idle. */
  lostBlocks(): number {
    const { slot, options, stats } = this.parts;
    const { running, waiting, deferred, heldBlocks, freeBlocks } = slot.engine.snapshot();
    if (running + waiting + deferred + heldBlocks > 0) return this.lost;
    stats.add('conservation_audits');
    this.lost = options.facts.numBlocks - freeBlocks;
    return this.lost;
  }
}
