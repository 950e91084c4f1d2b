import { BatonError, type EngineJob } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Submitter } from '../cluster/submitter';
import type { Sequence } from '../sequences/sequence';
import type { PlannedRequest } from './admit/admission';
import { ServeStep } from './serve';
import type { Executions } from './executed/executions';
import type { AnswerOpening } from './serve/answer-opening';
import type { Exchanges } from './serve/exchanges';
import type { JobFactory } from './serve/job-factory';

const REQUEST = {} as PlannedRequest;
const JOBS = [0, 1].map((index) => ({ requestId: `r-${index}`, flow: 'route' }) as EngineJob);
const logger = createLogger({ name: 'test', level: 'silent' });

/** An exchange with answers set by the test. */
class FakeExchange {
  readonly call = {};
  readonly sequences: readonly Partial<Sequence>[];

  constructor(
    private readonly visits: string[],
    jobs: readonly EngineJob[],
  ) {
    this.sequences = jobs.map((job) => ({ job }));
  }

  openAnswer(): void {
    this.visits.push('answer');
  }

  fail({ code }: BatonError): void {
    this.visits.push(`fail ${code}`);
  }
}

describe('serving a request', () => {
  let visits: string[];
  let failure: Error | undefined;
  let executes: boolean;

  let failAnswer: (error: BatonError) => void;

  beforeEach(() => {
    visits = [];
    failure = undefined;
    executes = false;
  });

  async function serve(): Promise<void> {
    const visit = (name: string): void => void visits.push(name);
    const step = new ServeStep(
      logger,
      { make: () => (visit('jobs'), JOBS) } as unknown as JobFactory,
      {
        headOf: () => ({}),
        open: (_request: unknown, _head: unknown, fail: typeof failAnswer) => {
          visit('take over');
          failAnswer = fail;
        },
      } as unknown as AnswerOpening,
      {
        open: (_request: unknown, { jobs }: { readonly jobs: readonly EngineJob[] }) => {
          visit(`open ${jobs.length}`);
          return new FakeExchange(visits, jobs);
        },
      } as unknown as Exchanges,
      { isOn: executes, keep: () => visit('keep') } as unknown as Executions,
      {
        submit: async (queue: string, [job]: readonly EngineJob[]) => {
          visit(`submit ${job?.requestId} to ${queue}`);
          if (failure) throw failure;
        },
      } as unknown as Submitter,
    );
    await step.serve(REQUEST);
  }

  const OPENED = ['jobs', 'take over', 'open 2'];
  const SUBMITTED = ['submit r-0 to prefill', 'submit r-1 to prefill'];

  it('puts one job per sequence into its queue before the answer is opened', async () => {
    await serve();
    expect(visits).toEqual([...OPENED, ...SUBMITTED, 'answer']);
  });

  it('keeps the body for an upstream server before its jobs can be taken', async () => {
    executes = true;
    await serve();
    expect(visits).toEqual([...OPENED, 'keep', ...SUBMITTED, 'answer']);
  });

  it('lets the answer end the exchange', async () => {
    await serve();
    failAnswer(new BatonError('engine_error'));
    expect(visits.at(-1)).toBe('fail engine_error');
  });

  it.each([
    ['broker_unavailable', new BatonError('broker_unavailable')],
    ['engine_error', new Error('of no catalogue')],
  ])('ends the exchange with %s when jobs were not submitted', async (code, error) => {
    failure = error;
    await serve();
    expect(visits).toEqual([...OPENED, ...SUBMITTED, `fail ${code}`]);
  });
});
