import type { LiveClock } from '@baton/clock';
import { emptyFrameEntry } from '@baton/contract';
import type { EngineStats, Logger } from '@baton/telemetry';
import type { RequestLedger } from '@baton/transport';
import type { EngineSlot } from '../host/engine-slot';
import type { Endings } from '../jobs/endings';
import { isRunOver, type Run } from '../jobs/run';
import type { Frames } from '../steps/frames';
import type { Handoff } from './handoff';
import type { Held, HeldKv } from './held-kv';

export interface HeldOffersParts {
  readonly heldKv: HeldKv;
  readonly handoff: Handoff;
  readonly ledger: RequestLedger;
  readonly clock: LiveClock;
  readonly frames: Frames;
  readonly slot: EngineSlot;
  readonly endings: Endings;
  readonly stats: EngineStats;
  readonly log: Logger;
}

/**
 * Offers the KV of a finished prompt: to decode through ledger and queue, or to an outside router.
 */
export class HeldOffers {
  private readonly entry = emptyFrameEntry();

  constructor(private readonly parts: HeldOffersParts) {}

  offer(held: Held): void {
    const { run } = held;
    run.state = 'moving-on';
    const moving = run.job.flow === 'hold' ? this.answerRouter(held) : this.passToDecode(held);
    moving.catch((error: unknown) => {
      const { requestId } = run.job;
      this.parts.log.warn({ err: error, requestId }, 'hand-over not completed');
      this.takeBack(run);
    });
  }

  /** The blocks were freed before they were offered: the run has nothing to move on with. */
  withdraw({ run, isKept }: Held): void {
    if (run.state === 'running' && !isKept) this.parts.endings.dropJob(run);
  }

  private passToDecode(held: Held): Promise<void> {
    const { handoff, heldKv, clock } = this.parts;
    const heldUs = clock.toWallUs(held.heldUs);
    const params = heldKv.paramsOf(held);
    return handoff.pass(held.run, { params, generation: held.generation, heldUs });
  }

  /** The prefill leg of an outside router ends here, with one token and the name of the blocks. */
  private async answerRouter(held: Held): Promise<void> {
    const { heldKv, ledger, endings, stats } = this.parts;
    const { run } = held;
    const payload = JSON.stringify(heldKv.paramsOf(held));
    const result = { reason: 'length', tokens: 1, payload } as const;
    const isOurs = await ledger.finish(run.job.requestId, run.epoch, result);
    if (isRunOver(run)) return;
    if (!isOurs) {
      endings.dropJob(run);
      return;
    }
    run.emitted = 1;
    stats.add('generation_tokens');
    this.sayEnd(run, payload);
    endings.passOn(run);
  }

  private sayEnd(run: Run, tail: string): void {
    const { frames } = this.parts;
    const entry = { ...this.entry, streamId: run.job.streamId, epoch: run.epoch, tail };
    frames.add(run.outbox, { ...entry, kind: 'end', reason: 'length', first: 1, count: 1 });
    frames.flushSoon();
  }

  /**
   * The broker could not be reached: the engine that gets the job next computes the prompt again.
   */
  private takeBack(run: Run): void {
    if (isRunOver(run)) return;
    this.parts.slot.guard(() => this.parts.endings.returnJob(run));
  }
}
