import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import { entryQueue } from '@baton/engine-host';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { Submitter } from '../cluster/submitter';
import { Observers } from '../observers/port/observers';
import { LOGGER } from '../tokens';
import type { Admission } from './admit/admission';
import { ExchangeStep } from './serve/exchanges';
import type { Exchange } from './serve/exchange';
import { Executions } from './executed/executions';
import { JobPlacement } from './serve/job-placement';
import { JobFactory } from './serve/job-factory';

/** Jobs of one request added per turn of the event loop: a few milliseconds. */
const PER_TURN = 64;

/**
 * Fifth step: makes jobs of an admitted request and puts them into their queues. From here on the
 * exchange owns the answer.
 */
@Injectable()
export class DispatchStep {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly exchanging: ExchangeStep,
    private readonly jobs: JobFactory,
    private readonly placement: JobPlacement,
    private readonly executions: Executions,
    private readonly submitter: Submitter,
    private readonly observers: Observers,
  ) {}

  async dispatch(admission: Admission): Promise<void> {
    const exchange = this.exchanging.open(admission);
    const jobOf = this.jobs.jobsOf(admission, exchange.head);
    exchange.openSequences(admission.routes.length, jobOf);
    for (const sequence of exchange.sequences) {
      sequence.waitingIn = admission.routes[0]!.stage;
      if (sequence.job.placed !== undefined) this.placement.opened(sequence);
    }
    this.observers.opened(exchange);
    try {
      await this.submit(exchange);
      exchange.openAnswer();
    } catch (error) {
      if (!(error instanceof BatonError))
        this.logger.error({ err: error }, 'submitting jobs failed; their request ends');
      exchange.fail(error instanceof BatonError ? error : new BatonError('engine_error'));
    }
  }

  private async submit({ sequences, call }: Exchange): Promise<void> {
    if (this.executions.isOn) {
      const jobs = sequences.map(({ job }) => job);
      await this.executions.keep(jobs, call);
    }
    const added: Promise<void>[] = [];
    for (const [index, { job }] of sequences.entries()) {
      if (index > 0 && index % PER_TURN === 0) await nextTurn();
      const one = this.submitter.submit(entryQueue(job), [job]);
      // A failure is handled once all jobs have been added; then it ends the request.
      one.catch(() => undefined);
      added.push(one);
    }
    await Promise.all(added);
  }
}
