import { emptyFrameEntry, type KvTransferParams } from '@baton/contract';
import { Injectable, Optional } from '@nestjs/common';
import { Endings } from '../run/endings/endings';
import { FaultPlan } from '../run/engine/fault-plan';
import { Frames } from '../run/runs/frames';
import { isRunOver, type Run } from '../run/runs/run';
import { Routing } from '../run/tokens';

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

  /** Passes the request and the name of its KV to decode; run and job end. */
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
