import { EngineStats } from '@baton/telemetry';
import { EngineSlot } from '../../../live-engine/engine/engine-slot';
import { Frames } from '../../../live-engine/runs/frames';
import { IncomingRuns, RunTable } from '../../../live-engine/runs/run';
import { KvEvents } from '../../../live-engine/observers/kv-events';
import { Mailbox } from '../../../live-engine/engine/mailbox';
import { PoolNode } from '../../../live-engine/pool/pool-node';
import { RunSpans } from '../../../live-engine/observers/run-spans';
import { StepLoop } from '../../../live-engine/engine/step-loop';
import { TimelineFacts } from '../../../live-engine/observers/timeline-facts';
import { Endings } from '../../endings/endings';
import { FaultPlan, wantsFaults } from '../../endings/fault-plan';
import { FinishedRuns } from '../../endings/finished-runs';
import { TakenJobs } from '../../jobs/taken-jobs';
import { StepPace } from '../../steps/step-frames';
import type { HostDependencies } from '../engine-host';
import type { Site } from './site';

/**
 * The engine, its loop, the shared records and the endings of runs. Parts that are not configured
 * are undefined.
 */
export type Core = ReturnType<typeof buildCore>;

export function buildCore(site: Site, { tracer, endProcess = killProcess }: HostDependencies) {
  const { options, clock } = site;
  const runs = new RunTable();
  const kvEvents = newKvEvents(site);
  const poolNode = options.kvPool && new PoolNode({ ...site, terms: options.kvPool });
  const slot = new EngineSlot(() => options.buildEngine(kvEvents, poolNode?.restart()));
  const core = {
    runs,
    kvEvents,
    poolNode,
    slot,
    endProcess,
    stats: new EngineStats(options.maxModelLen),
    faults: wantsFaults(options.faults) ? new FaultPlan(options.faults, endProcess) : undefined,
    frames: newFrames(site),
    timelines: options.publishesTimelines ? new TimelineFacts({ ...site, slot, runs }) : undefined,
    spans: tracer && new RunSpans(tracer),
    // A prompt is handed over at its logical end, even if the message about it is late.
    loop: new StepLoop({
      clock,
      slot,
      barrier: options.dataParallel?.barrier,
      isPrecise: site.identity.role !== 'prefill',
      hasGrace: poolNode === undefined,
      leadUs: poolNode === undefined ? (options.resultLeadUs ?? 0) : 0,
    }),
    pace: new StepPace(),
    mailbox: new Mailbox({ ...site, slot }),
    finished: new FinishedRuns(site),
    incoming: new IncomingRuns(),
    takenJobs: new TakenJobs(),
  };
  return { ...core, endings: new Endings({ ...site, ...core }) };
}

function newFrames({ identity, bus, wall }: Site): Frames {
  return new Frames({ engineId: identity.engineId, stage: identity.role, bus, wall });
}

function newKvEvents({ options, wall }: Site): KvEvents | undefined {
  const { facts, kvEvents: publisher } = options;
  return publisher && new KvEvents({ blockSize: facts.blockSize, wall, publisher });
}

function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
