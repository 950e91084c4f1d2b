import type { JobRouting } from '@baton/engine-host';
import { Inject, Injectable } from '@nestjs/common';
import { Submitter } from '../cluster/submitter';
import { ROUTING, Broker } from '../tokens';
import type { Sequence } from '../sequences/sequence';

/** Submits the job of a sequence again, with a higher number than all its earlier runs. */
@Injectable()
export class Resubmitter {
  constructor(
    private readonly transport: Broker,
    @Inject(ROUTING) private readonly routing: JobRouting,
    private readonly submitter: Submitter,
  ) {}

  /** Resolves when the broker has the job, and immediately for an ended sequence. */
  async resubmit(sequence: Sequence): Promise<void> {
    if (sequence.isOver) return;
    const submission = sequence.resubmitted(performance.now());
    const job = { ...sequence.job, submission };
    const { executedRequest } = sequence;
    if (executedRequest !== undefined)
      await this.transport.ledger.putPrompt(job.requestId, executedRequest);
    await this.transport.ledger.resubmit(job);
    const { placed } = job;
    const next = placed ? this.routing.again(placed.stage, job) : this.routing.atArrival(job);
    sequence.queue = next.queue;
    await this.submitter.submit(next.queue, [next.job]);
  }
}
