import type { EngineStats } from '@baton/telemetry';
import type { HandoffRecord, RequestLedger, RunPermit } from '@baton/transport';
import type { EngineIdentity } from '../host/engine-identity';
import type { EngineSlot } from '../host/engine-slot';
import type { HostOptions } from '../host/host-options';
import type { Endings } from './endings';
import type { JobFaults } from './job-faults';
import type { RefusedRuns } from './refused-runs';
import { isRunOver, type Run } from './run';

/** Does the work of a stage: the simulated engine, or an executor. */
export interface StageWork {
  /** The ledger permits the run; `handoff` is what its prefill left, on decode. */
  start(run: Run, handoff: HandoffRecord | undefined): void;
}

export interface RunStarterParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<HostOptions, 'maxRuns'>;
  readonly ledger: RequestLedger;
  readonly slot: EngineSlot;
  readonly stats: EngineStats;
  readonly endings: Endings;
  readonly refused: RefusedRuns;
  readonly jobFaults: JobFaults;
  readonly work: StageWork;
}

/** Asks the ledger whether a run may begin, and starts its work. */
export class RunStarter {
  constructor(private readonly parts: RunStarterParts) {}

  /** Rejects when the ledger or a queue cannot be reached. */
  async begin(run: Run): Promise<void> {
    const { slot, stats, endings, refused, jobFaults, work } = this.parts;
    const permit = await this.ask(run);
    if (run.state === 'over') {
      if (permit.kind === 'run') endings.excuseRun({ ...run, epoch: permit.epoch });
      return;
    }
    if (permit.kind !== 'run') {
      await refused.refuse(run, permit);
      return;
    }
    run.epoch = permit.epoch;
    run.state = 'running';
    stats.add('runs_started');
    if (run.job.faults !== undefined) await jobFaults.prepare(run);
    if (isRunOver(run)) return;
    slot.guard(() => jobFaults.onPrefill(run, () => work.start(run, permit.handoff)));
  }

  private ask(run: Run): Promise<RunPermit> {
    const { identity, options, ledger } = this.parts;
    const { requestId, submission, apiId } = run.job;
    return ledger.begin({
      ...{ requestId, submission, apiId, engineId: identity.engineId },
      stage: run.stage,
      maxRuns: options.maxRuns,
    });
  }
}
