import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import { entryQueue } from '@baton/engine-host';
import { Injectable } from '@nestjs/common';
import { Submitter } from '../cluster/submitter';
import { Log } from '../tokens';
import type { PlannedRequest } from './admit/admission';
import { Executions } from './executed/executions';
import { AnswerOpening } from './serve/answer-opening';
import type { Exchange } from './serve/exchange';
import { Exchanges } from './serve/exchanges';
import { JobFactory } from './serve/job-factory';

/** Jobs of one request added per turn of the event loop: a few milliseconds. */
const PER_TURN = 64;

/**
 * Last step: makes the jobs of a planned request, opens its answer, ties both together in an
 * exchange, and puts the jobs into their queues. From here on the exchange owns the answer.
 */
@Injectable()
export class ServeStep {
  constructor(
    private readonly logger: Log,
    private readonly jobs: JobFactory,
    private readonly answers: AnswerOpening,
    private readonly exchanges: Exchanges,
    private readonly executions: Executions,
    private readonly submitter: Submitter,
  ) {}

  async serve(request: PlannedRequest): Promise<void> {
    const head = this.answers.headOf(request);
    const jobs = this.jobs.make(request, head);
    const answer = this.answers.open(request, head, (error) => exchange.fail(error));
    const exchange = this.exchanges.open(request, { head, jobs, answer });
    try {
      await this.submit(exchange, request);
      exchange.openAnswer();
    } catch (error) {
      if (!(error instanceof BatonError))
        this.logger.error({ err: error }, 'submitting jobs failed; their request ends');
      exchange.fail(error instanceof BatonError ? error : new BatonError('engine_error'));
    }
  }

  private async submit({ sequences }: Exchange, request: PlannedRequest): Promise<void> {
    if (this.executions.isOn) {
      const jobs = sequences.map(({ job }) => job);
      const executedRequest = await this.executions.keep(jobs, request);
      for (const sequence of sequences) sequence.executedRequest = executedRequest;
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
