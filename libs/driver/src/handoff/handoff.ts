import { emptyFrameEntry, type KvTransferParams } from '@baton/contract';
import type { JobRouting } from '@baton/routing';
import type { JobQueues, RequestLedger } from '@baton/transport';
import type { Endings } from '../jobs/endings';
import type { FaultPlan } from '../jobs/fault-plan';
import { isRunOver, type Run } from '../jobs/run';
import type { Frames } from '../steps/frames';

/** What a field of a frame entry holds. */
const MOST_SINCE_ARRIVAL_US = 2 ** 32 - 1;

/**
 * Generation of what an executing prefill holds: its server names the blocks. Those of simulated
 * ones begin at 1.
 */
export const EXECUTED = 0;

/** A prompt that is computed, on its way to decode. */
export interface HeldPrompt {
  readonly params: KvTransferParams;
  readonly generation: number;
  /** Logical instant of the hold, µs since the Unix epoch. */
  readonly heldUs: number;
  /** Set where the prompt is still being computed: see the hand-over record. */
  readonly prefillEngineId?: string;
}

export interface HandoffParts {
  readonly ledger: RequestLedger;
  readonly jobs: JobQueues;
  readonly routing: JobRouting;
  readonly faults: FaultPlan;
  readonly frames: Frames;
  readonly endings: Endings;
}

/**
 * Hands a routed request over to decode. Record, then job, then the end of this run: a crash
 * between any two of them loses nothing.
 */
export class Handoff {
  private readonly entry = emptyFrameEntry();

  constructor(private readonly parts: HandoffParts) {}

  async pass(run: Run, held: HeldPrompt): Promise<void> {
    if (await this.offer(run, held)) this.parts.endings.passOn(run);
  }

  /** As `pass`, but the run goes on. False when it is over by then. */
  async offer(run: Run, { heldUs, ...held }: HeldPrompt): Promise<boolean> {
    const { ledger, jobs, faults, routing, endings } = this.parts;
    const { job, epoch } = run;
    faults.reached('held');
    const next = routing.atHandoff({ ...job, causeUs: heldUs });
    const record = {
      ...{ ...held, heldUs, epoch },
      ...(next.job.placed === undefined ? {} : { decode: next.job.placed }),
    };
    const isOurs = await ledger.handOff(job.requestId, epoch, record);
    if (isRunOver(run)) return false;
    if (!isOurs) {
      endings.dropJob(run);
      return false;
    }
    faults.reached('handed-over');
    await jobs.add(next.queue, [next.job]);
    faults.reached('decode-queued');
    if (isRunOver(run)) return false;
    this.say(run, heldUs);
    return true;
  }

  private say({ job, epoch, outbox }: Run, heldUs: number): void {
    const first = Math.min(MOST_SINCE_ARRIVAL_US, Math.max(0, heldUs - job.arrivalUs));
    const entry = { ...this.entry, streamId: job.streamId, epoch, first };
    this.parts.frames.add(outbox, { ...entry, kind: 'handed-over' });
    this.parts.frames.flushSoon();
  }
}
