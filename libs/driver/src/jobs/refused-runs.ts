import { routedTo } from '@baton/routing';
import type { JobQueues, RunPermit } from '@baton/transport';
import type { EngineSlot } from '../host/engine-slot';
import type { Endings } from './endings';
import type { IncomingRuns } from './incoming-runs';
import type { Run } from './run';

export type Permitted = Extract<RunPermit, { kind: 'run' }>;

export interface RefusedRunsParts {
  readonly jobs: JobQueues;
  readonly slot: EngineSlot;
  readonly incoming: IncomingRuns;
  readonly endings: Endings;
}

/**
 * Ends a run that the ledger does not permit, and sends its request on to the stage that has it.
 */
export class RefusedRuns {
  constructor(private readonly parts: RefusedRunsParts) {}

  async refuse(run: Run, permit: Exclude<RunPermit, Permitted>): Promise<void> {
    const { jobs, slot, incoming, endings } = this.parts;
    incoming.settle(run);
    if (permit.kind === 'exhausted') {
      run.epoch = permit.epoch;
      endings.failRequest(run, 'attempts_exhausted');
      return;
    }
    run.state = 'moving-on';
    if (permit.why === 'handed-over') {
      const { decode, heldUs } = permit.handoff;
      const { queue, job } = routedTo('decode', { ...run.job, causeUs: heldUs }, decode);
      await jobs.add(queue, [job]);
    } else if (permit.why === 'returned') {
      const { queue, job } = routedTo('prefill', run.job, undefined);
      await jobs.add(queue, [{ ...job, submission: permit.submission }]);
    }
    if (run.state === 'moving-on') slot.guard(() => endings.passOn(run));
  }
}
