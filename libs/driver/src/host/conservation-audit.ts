import type { HostContext } from './host-context';

/** Looks for KV blocks that nobody owns: in an engine without a sequence and without held blocks every block must be free. */
export class ConservationAudit {
  private lost = 0;

  constructor(private readonly context: HostContext) {}

  /** Of the last look at the idle engine; looks now if it is idle. */
  lostBlocks(): number {
    const { engine, options, stats } = this.context;
    const { running, waiting, deferred, heldBlocks, freeBlocks } = engine.snapshot();
    if (running + waiting + deferred + heldBlocks > 0) return this.lost;
    stats.add('conservation_audits');
    this.lost = options.facts.numBlocks - freeBlocks;
    return this.lost;
  }
}
