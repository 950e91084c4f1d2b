import { BatonError, type EngineJob } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Submitter } from '../cluster/submitter';
import type { Sequence } from '../frames/sequence';
import type { Observers } from '../observers/port/observers';
import type { Admission } from './admit/admission';
import { DispatchStep } from './serve';
import type { JobFactory } from './serve/job-factory';
import type { JobPlacement } from './serve/job-placement';
import type { ExchangeStep } from './serve/exchanges';
import type { Executions } from './executed/executions';

const ADMISSION = { routes: [{ stage: 'prefill' }, { stage: 'prefill' }] } as unknown as Admission;
const logger = createLogger({ name: 'test', level: 'silent' });

/** An exchange with answers set by the test. */
class FakeExchange {
  readonly head = {};
  readonly call = {};
  readonly sequences: Partial<Sequence>[] = [];

  constructor(private readonly visits: string[]) {}

  openSequences(count: number, jobOf: (index: number, streamId: number) => EngineJob): void {
    this.visits.push(`open ${count}`);
    for (let index = 0; index < count; index += 1) this.sequences.push({ job: jobOf(index, 7) });
  }

  openAnswer(): void {
    this.visits.push('answer');
  }

  fail({ code }: BatonError): void {
    this.visits.push(`fail ${code}`);
  }
}

describe('dispatching a request', () => {
  let visits: string[];
  let failure: Error | undefined;
  let executes: boolean;
  let placed: object | undefined;

  beforeEach(() => {
    visits = [];
    failure = undefined;
    executes = false;
    placed = undefined;
  });

  async function dispatch(): Promise<FakeExchange> {
    const exchange = new FakeExchange(visits);
    const visit = (name: string): void => void visits.push(name);
    const step = new DispatchStep(
      logger,
      { open: () => exchange } as unknown as ExchangeStep,
      {
        jobsOf: () => (index: number) => ({ requestId: `r-${index}`, flow: 'route', placed }),
      } as unknown as JobFactory,
      { opened: () => visit('placed') } as unknown as JobPlacement,
      { isOn: executes, keep: () => visit('keep') } as unknown as Executions,
      {
        submit: async (queue: string, [job]: readonly EngineJob[]) => {
          visit(`submit ${job?.requestId} to ${queue}`);
          if (failure) throw failure;
        },
      } as unknown as Submitter,
      { opened: () => visit('observed') } as unknown as Observers,
    );
    await step.dispatch(ADMISSION);
    return exchange;
  }

  const SUBMITTED = ['submit r-0 to prefill', 'submit r-1 to prefill'];

  it('puts one job per sequence into its queue before the answer is opened', async () => {
    await dispatch();
    expect(visits).toEqual(['open 2', 'observed', ...SUBMITTED, 'answer']);
  });

  it('counts each sequence in its first stage', async () => {
    const { sequences } = await dispatch();
    expect(sequences.map(({ waitingIn }) => waitingIn)).toEqual(['prefill', 'prefill']);
  });

  it('keeps the body for an upstream server before its jobs can be taken', async () => {
    executes = true;
    await dispatch();
    expect(visits).toEqual(['open 2', 'observed', 'keep', ...SUBMITTED, 'answer']);
  });

  it('follows jobs that have been placed', async () => {
    placed = { stage: 'prefill' };
    await dispatch();
    expect(visits.slice(0, 4)).toEqual(['open 2', 'placed', 'placed', 'observed']);
  });

  it.each([
    ['broker_unavailable', new BatonError('broker_unavailable')],
    ['engine_error', new Error('of no catalogue')],
  ])('ends the exchange with %s when jobs were not submitted', async (code, error) => {
    failure = error;
    await dispatch();
    expect(visits).toEqual(['open 2', 'observed', ...SUBMITTED, `fail ${code}`]);
  });
});
