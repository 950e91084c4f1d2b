import { Injectable, Optional } from '@nestjs/common';
import { Log, Routing } from '../../live-engine/tokens';
import { LiveClock } from '@baton/clock';
import { emptyFrameEntry, type KvTransferParams } from '@baton/contract';
import { EngineSlot } from '../../live-engine/engine/engine-slot';
import { Frames } from '../../live-engine/runs/frames';
import { isRunOver, type Run } from '../../live-engine/runs/run';
import { EngineStats } from '@baton/telemetry';
import { Endings } from '../endings/endings';
import { FaultPlan } from '../faults/fault-plan';
import { type Held, HeldKv } from './held-kv';

/** The largest value of a field of a frame entry. */
const MOST_SINCE_ARRIVAL_US = 2 ** 32 - 1;

/**
 * Generation of the holdings of an executing prefill, whose server names the blocks. Generations of
 * simulated engines begin at 1.
 */
export const EXECUTED = 0;

/** A computed prompt on its way to decode. */
export interface HeldPrompt {
  readonly params: KvTransferParams;
  readonly generation: number;
  /** Logical instant of the hold, µs since the Unix epoch. */
  readonly heldUs: number;
  /** Set when the prompt is still being computed: see the hand-over record. */
  readonly prefillEngineId?: string;
}

/**
 * Hands a routed request over to decode. The record, the decode job and the end of this run's own
 * job are one step, so a crash leaves all of them or none.
 */
@Injectable()
export class Handoff {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly routing: Routing,
    private readonly frames: Frames,
    private readonly endings: Endings,
    @Optional() private readonly faults?: FaultPlan,
  ) {}

  async pass(run: Run, held: HeldPrompt): Promise<void> {
    if (await this.send(run, held, true)) this.endings.end(run, 'handOn');
  }

  /** Like `pass`, but run and job continue. False when the run has ended by then. */
  offer(run: Run, held: HeldPrompt): Promise<boolean> {
    return this.send(run, held, false);
  }

  private async send(run: Run, { heldUs, ...held }: HeldPrompt, leaves: boolean): Promise<boolean> {
    const { faults, routing, endings } = this;
    const { job, epoch } = run;
    faults?.reached('held');
    const next = routing.atHandoff({ ...job, causeUs: heldUs });
    const handoff = {
      heldUs,
      epoch,
      ...held,
      ...(next.job.placed === undefined ? {} : { decode: next.job.placed }),
    };
    const isOurs = await run.taken.handOver({ epoch, handoff, next, leaves });
    if (isOurs) faults?.reached('handed-over');
    if (isRunOver(run)) return false;
    if (isOurs) this.addHandoffFrame(run, heldUs);
    else endings.end(run, 'drop');
    return isOurs;
  }

  private addHandoffFrame({ job, epoch, outbox }: Run, heldUs: number): void {
    const first = Math.min(MOST_SINCE_ARRIVAL_US, Math.max(0, heldUs - job.arrivalUs));
    const entry = { ...this.entry, streamId: job.streamId, epoch, first };
    this.frames.add(outbox, { ...entry, kind: 'handed-over' });
    this.frames.flushSoon();
  }
}

/**
 * Offers the KV of a finished prompt: to decode through ledger and queue, or to an outside router.
 */
@Injectable()
export class HeldOffers {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly heldKv: HeldKv,
    private readonly handoff: Handoff,
    private readonly clock: LiveClock,
    private readonly frames: Frames,
    private readonly slot: EngineSlot,
    private readonly endings: Endings,
    private readonly stats: EngineStats,
    private readonly log: Log,
  ) {}

  offer(held: Held): void {
    const { run } = held;
    run.state = 'moving-on';
    const moving = run.job.flow === 'hold' ? this.answerRouter(held) : this.passToDecode(held);
    moving.catch((error: unknown) => {
      const { requestId } = run.job;
      this.log.warn({ err: error, requestId }, 'a hand-over failed');
      this.takeBack(run);
    });
  }

  /** The blocks were freed before they were offered, so the run has nothing to hand over. */
  withdraw({ run, isKept }: Held): void {
    if (run.state === 'running' && !isKept) this.endings.end(run, 'drop');
  }

  private passToDecode(held: Held): Promise<void> {
    const { handoff, heldKv, clock } = this;
    const heldUs = clock.toWallUs(held.heldUs);
    const params = heldKv.paramsOf(held);
    return handoff.pass(held.run, { params, generation: held.generation, heldUs });
  }

  /** Ends the prefill leg of an outside router, with one token and the names of the blocks. */
  private async answerRouter(held: Held): Promise<void> {
    const { heldKv, endings, stats } = this;
    const { run } = held;
    const payload = JSON.stringify(heldKv.paramsOf(held));
    const result = { reason: 'length', tokens: 1, payload } as const;
    const isOurs = await run.taken.finishJob({ epoch: run.epoch, result });
    if (isRunOver(run)) return;
    if (!isOurs) {
      endings.end(run, 'drop');
      return;
    }
    run.emitted = 1;
    stats.add('generation_tokens');
    this.addPassedEndFrame(run, payload);
    endings.end(run, 'handOn');
  }

  private addPassedEndFrame(run: Run, tail: string): void {
    const { frames } = this;
    const entry = { ...this.entry, streamId: run.job.streamId, epoch: run.epoch, tail };
    frames.add(run.outbox, { ...entry, kind: 'end', reason: 'length', first: 1, count: 1 });
    frames.flushSoon();
  }

  /**
   * The broker could not be reached; the next engine that gets the job computes the prompt again.
   */
  private takeBack(run: Run): void {
    this.slot.guard(() => this.endings.end(run, 'giveBack'));
  }
}
