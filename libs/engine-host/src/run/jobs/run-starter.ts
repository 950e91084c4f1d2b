import { LiveClock } from '@baton/clock';
import type { EngineJob, Placed, Stage } from '@baton/contract';
import { unreachable, usToSeconds } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import type { HandoffRecord, RunPermit, TakenJob } from '@baton/transport';
import { Injectable, Optional } from '@nestjs/common';
import { routedTo } from '../../routing/job-routing';
import { Endings } from '../endings/endings';
import { EngineIdentity } from '../engine/engine-identity';
import { EngineSlot } from '../engine/engine-slot';
import { FaultPlan } from '../engine/fault-plan';
import { JobFaults } from '../faults/job-faults';
import { RunSpans } from '../observers/run-spans';
import { TimelineFacts } from '../observers/timeline-facts';
import { Frames } from '../runs/frames';
import { IncomingRuns, isRunOver, NO_HANDLE, type Run, RunTable } from '../runs/run';
import { HostOptions, Jobs, Ledger, Log } from '../tokens';
import { EngineEntry } from './engine-entry';
import { Executor } from './executor';
import { TakenJobs } from './taken-jobs';

/** Makes runs of taken jobs, with the instant of the take. */
@Injectable()
export class NewRuns {
  constructor(
    private readonly identity: EngineIdentity,
    private readonly clock: LiveClock,
    private readonly frames: Frames,
    private readonly runs: RunTable,
    private readonly incoming: IncomingRuns,
    private readonly takenJobs: TakenJobs,
    private readonly stats: EngineStats,
    @Optional() private readonly spans?: RunSpans,
    @Optional() private readonly timelines?: TimelineFacts,
  ) {}

  open(taken: TakenJob): Run {
    const { identity, clock, runs, incoming, stats, spans, timelines } = this;
    const { job } = taken;
    if (job.placed?.own !== undefined) this.notePlaced(job.placed.own);
    stats.observe('job_delivery_seconds', usToSeconds(clock.wall.nowUs() - job.causeUs));
    const run = this.newRun(taken);
    runs.add(run);
    spans?.taken(run, identity, clock.wall.nowUs());
    timelines?.note(run, 'taken', { atUs: clock.nowUs() });
    incoming.add(run);
    return run;
  }

  private notePlaced(own: NonNullable<Placed['own']>): void {
    const { identity, takenJobs, stats } = this;
    if (own.engineId !== identity.engineId) return;
    takenJobs.note(own);
    stats.add('placed_jobs');
  }

  private newRun(taken: TakenJob): Run {
    const { clock, frames, identity } = this;
    const { job } = taken;
    return {
      job,
      taken,
      stage: stageOf(job, identity.role),
      outbox: frames.take(job.apiId),
      causeUs: clock.toSimUs(job.causeUs),
      epoch: 0,
      state: 'beginning',
      handle: NO_HANDLE,
      emitted: 0,
      isIncoming: false,
      isScheduled: false,
      hasFetched: false,
      computedTokens: 0,
      preemptions: 0,
      isEnding: false,
      firstTokenUs: 0,
      transferredTokens: 0,
      fetching: undefined,
      faultAfterTokens: Infinity,
      hasKilledProcess: false,
    };
  }
}

type Refusal = Exclude<RunPermit, { kind: 'run' }>;

/**
 * Ends runs that the ledger does not permit, and passes their requests on to the stage that has
 * them.
 */
@Injectable()
export class RefusedRuns {
  constructor(
    private readonly jobs: Jobs,
    private readonly slot: EngineSlot,
    private readonly incoming: IncomingRuns,
    private readonly endings: Endings,
  ) {}

  async refuse(run: Run, permit: Refusal): Promise<void> {
    const { jobs, slot, incoming, endings } = this;
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
    slot.guard(() => endings.end(run, 'handOn'));
  }
}

/** Starts the work of a run; on decode, `handoff` is the record of its prefill. */
export type StartWork = (run: Run, handoff: HandoffRecord | undefined) => void;

/** Begins runs of taken jobs in the ledger, and starts the work of those that it permits. */
@Injectable()
export class RunStarter {
  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly ledger: Ledger,
    private readonly slot: EngineSlot,
    private readonly stats: EngineStats,
    private readonly incoming: IncomingRuns,
    private readonly endings: Endings,
    private readonly newRuns: NewRuns,
    private readonly refused: RefusedRuns,
    private readonly jobFaults: JobFaults,
    private readonly entry: EngineEntry,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
    @Optional() private readonly faults?: FaultPlan,
  ) {}

  /** @param startWork not called when an executor does the work */
  take(taken: TakenJob, startWork: StartWork): void {
    const run = this.newRuns.open(taken);
    this.begin(run, startWork).catch((error: unknown) => {
      this.log.debug({ err: error, requestId: run.job.requestId }, 'run not begun');
      this.slot.guard(() => this.endings.end(run, 'giveBack'));
    });
  }

  /** Rejects when the ledger or a queue cannot be reached. */
  private async begin(run: Run, startWork: StartWork): Promise<void> {
    const { slot, stats, endings, refused, jobFaults, faults } = this;
    faults?.reached('taken');
    // A job of a shared queue was taken with its permit.
    const permit = await (run.taken.permit ?? this.requestPermit(run));
    if (run.state === 'over') {
      if (permit.kind === 'run') endings.excuseRun(run.job.requestId, permit.epoch);
      return;
    }
    if (permit.kind !== 'run') {
      await refused.refuse(run, permit);
      return;
    }
    run.epoch = permit.epoch;
    run.state = 'running';
    stats.add('runs_started');
    const start = (): void => this.start(run, permit.handoff, startWork);
    if (run.job.faults === undefined) {
      slot.guard(start);
      return;
    }
    await jobFaults.prepare(run);
    if (!isRunOver(run)) slot.guard(() => jobFaults.onPrefill(run, start));
  }

  /** A run that an executor starts is no longer on its way into the engine. */
  private start(run: Run, handoff: HandoffRecord | undefined, startWork: StartWork): void {
    const { executor, incoming, entry } = this;
    if (executor === undefined) {
      entry.atCause(run, () => startWork(run, handoff));
      return;
    }
    incoming.settle(run);
    executor.start(run, handoff);
  }

  private requestPermit(run: Run): Promise<RunPermit> {
    const { identity, options, ledger } = this;
    const { requestId, submission, apiId } = run.job;
    return ledger.begin({
      requestId,
      submission,
      apiId,
      engineId: identity.engineId,
      stage: run.stage,
      maxRuns: options.maxRuns,
    });
  }
}

/**
 * The stage of a job: a shared queue determines it; on an engine's own queue the flow does, and for
 * a routed job the role.
 */
export function stageOf(job: EngineJob, role: Stage): Stage {
  switch (job.flow) {
    case 'route':
      return role;
    case 'hold':
      return 'prefill';
    case 'attach':
      return 'decode';
    case 'local':
      return 'aggregated';
    default:
      return unreachable(job.flow);
  }
}
