import { EngineStats } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { EngineSlot } from '../run/engine/engine-slot';
import { HostOptions } from '../run/tokens';

/**
 * Checks for lost KV blocks: all blocks of an engine without sequences and holdings must be free.
 */
@Injectable()
export class ConservationAudit {
  private lost = 0;
  /** Events of the engine up to the last counted check. */
  private changes = -1;

  constructor(
    private readonly options: HostOptions,
    private readonly slot: EngineSlot,
    private readonly stats: EngineStats,
  ) {}

  /**
   * The result of the last check of the idle engine; checks now if it is idle. Only the first check
   * after an event counts, so that an engine without events has nothing new to announce.
   */
  lostBlocks(): number {
    const { slot, options, stats } = this;
    const now = slot.engine.snapshot();
    const { running, waiting, deferred, heldBlocks, leaving, freeBlocks } = now;
    if (running + waiting + deferred + heldBlocks + leaving > 0) return this.lost;
    if (stats.changes !== this.changes) stats.add('conservation_audits');
    this.changes = stats.changes;
    this.lost = options.facts.numBlocks - freeBlocks;
    return this.lost;
  }
}
