import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { EngineStats } from '@baton/telemetry';
import type { DriverOptions } from '../options';

export interface ConservationAuditParts {
  readonly options: Pick<DriverOptions, 'facts'>;
  readonly slot: EngineSlot;
  readonly stats: EngineStats;
}

/**
 * Checks for lost KV blocks: all blocks of an engine without sequences and holdings must be free.
 */
export class ConservationAudit {
  private lost = 0;
  /** Events of the engine up to the last counted check. */
  private changes = -1;

  constructor(private readonly parts: ConservationAuditParts) {}

  /**
   * The result of the last check of the idle engine; checks now if it is idle. Only the first check
   * after an event counts, so that an engine without events has nothing new to announce.
   */
  lostBlocks(): number {
    const { slot, options, stats } = this.parts;
    const now = slot.engine.snapshot();
    const { running, waiting, deferred, heldBlocks, leaving, freeBlocks } = now;
    if (running + waiting + deferred + heldBlocks + leaving > 0) return this.lost;
    if (stats.changes !== this.changes) stats.add('conservation_audits');
    this.changes = stats.changes;
    this.lost = options.facts.numBlocks - freeBlocks;
    return this.lost;
  }
}
