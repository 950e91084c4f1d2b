import { emptyFrameEntry, type KvTransferParams } from '@baton/contract';
import type { HostContext } from '../host/host-context';
import type { Endings } from '../jobs/endings';
import { isOver, type Run } from '../jobs/run';

/** What a field of a frame entry holds. */
const MOST_SINCE_ARRIVAL_US = 2 ** 32 - 1;

/** Generation of what an executing prefill holds: its server names the blocks. Those of simulated ones begin at 1. */
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

/** Hands a routed request over to decode. Record, then job, then the end of this run: a crash between any two of them loses nothing. */
export class HandOver {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly context: HostContext,
    private readonly endings: Endings,
  ) {}

  async pass(run: Run, held: HeldPrompt): Promise<void> {
    if (await this.offer(run, held)) this.endings.handOn(run);
  }

  /** As `pass`, but the run goes on. False when it is over by then. */
  async offer(run: Run, { heldUs, ...held }: HeldPrompt): Promise<boolean> {
    const { transport, faults, routing } = this.context;
    const { job, epoch } = run;
    faults.reached('held');
    const next = routing.atHandOver({ ...job, causeUs: heldUs });
    const record = {
      ...{ ...held, heldUs, epoch },
      ...(next.job.placed === undefined ? {} : { decode: next.job.placed }),
    };
    const isOurs = await transport.ledger.handOver(job.requestId, epoch, record);
    if (isOver(run)) return false;
    if (!isOurs) {
      this.endings.drop(run);
      return false;
    }
    faults.reached('handed-over');
    await transport.jobs.add(next.queue, [next.job]);
    faults.reached('decode-queued');
    if (isOver(run)) return false;
    this.say(run, heldUs);
    return true;
  }

  private say({ job, epoch, outbox }: Run, heldUs: number): void {
    const first = Math.min(MOST_SINCE_ARRIVAL_US, Math.max(0, heldUs - job.arrivalUs));
    const entry = { ...this.entry, streamId: job.streamId, epoch, first };
    this.context.frames.add(outbox, { ...entry, kind: 'handed-over' });
    this.context.frames.flushSoon();
  }
}
