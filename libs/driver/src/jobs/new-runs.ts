import type { LiveClock } from '@baton/clock';
import type { EngineJob, Stage } from '@baton/contract';
import { unreachable, usToSeconds } from '@baton/kernel';
import type { EngineStats } from '@baton/telemetry';
import type { TakenJob } from '@baton/transport';
import type { EngineIdentity } from '../host/engine-identity';
import type { TimelineFacts } from '../host/timeline-facts';
import type { Frames } from '../steps/frames';
import type { IncomingRuns } from './incoming-runs';
import type { Run, RunTable } from './run';
import type { RunSpans } from './run-spans';
import type { TakenJobs } from './taken-jobs';

export interface NewRunsParts {
  readonly identity: EngineIdentity;
  readonly clock: LiveClock;
  readonly frames: Frames;
  readonly runs: RunTable;
  readonly incoming: IncomingRuns;
  readonly takenJobs: TakenJobs;
  readonly stats: EngineStats;
  readonly spans: RunSpans;
  readonly timelines: TimelineFacts;
}

/** Makes a run of a taken job, and notes when it was taken. */
export class NewRuns {
  constructor(private readonly parts: NewRunsParts) {}

  open(taken: TakenJob): Run {
    const { identity, clock, runs, incoming, stats, spans, timelines } = this.parts;
    const { job } = taken;
    this.notePlaced(job);
    stats.observe('job_delivery_seconds', usToSeconds(clock.wall.nowUs() - job.causeUs));
    const run = this.newRun(taken);
    runs.add(run);
    spans.taken(run, identity.engineId, clock.wall.nowUs());
    timelines.note(run, 'taken', { atUs: clock.nowUs() });
    incoming.add(run);
    return run;
  }

  private notePlaced({ placed }: EngineJob): void {
    const { identity, takenJobs, stats } = this.parts;
    if (placed?.own?.engineId !== identity.engineId) return;
    takenJobs.note(placed.own);
    stats.add('placed_jobs');
  }

  private newRun(taken: TakenJob): Run {
    const { clock, frames, identity } = this.parts;
    const { job } = taken;
    return {
      job,
      taken,
      stage: stageOf(job, identity.role),
      outbox: frames.take(job.apiId),
      causeUs: clock.toSimUs(job.causeUs),
      epoch: 0,
      state: 'beginning',
      handle: -1,
      emitted: 0,
      isIncoming: false,
      isScheduled: false,
      isEnding: false,
      firstTokenUs: 0,
      transferredTokens: 0,
      fetching: undefined,
      faultAfterTokens: Infinity,
      isSpared: false,
    };
  }
}

/**
 * A shared queue says it; on an engine's own queue the flow does, and for a routed job the role.
 */
function stageOf(job: EngineJob, role: Stage): Stage {
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
