import { EngineStats } from '@baton/telemetry';
import { FaultPlan } from '../../jobs/fault-plan';
import { FinishedRuns } from '../../jobs/finished-runs';
import { IncomingRuns } from '../../jobs/incoming-runs';
import { RunTable } from '../../jobs/run';
import { RunSpans } from '../../jobs/run-spans';
import { TakenJobs } from '../../jobs/taken-jobs';
import { KvEvents } from '../../kv-events/kv-events';
import { Frames } from '../../steps/frames';
import { StepLoop } from '../../steps/step-loop';
import { StepPace } from '../../steps/step-pace';
import { EngineSlot } from '../engine-slot';
import { Mailbox } from '../mailbox';
import { TimelineFacts } from '../timeline-facts';
import type { HostDependencies } from '../engine-host';
import type { Site } from './site';

/** The engine, its loop, and the books that other parts keep together. */
export type Core = ReturnType<typeof buildCore>;

export function buildCore(site: Site, { tracer, endProcess }: HostDependencies) {
  const { options, clock } = site;
  const runs = new RunTable();
  const kvEvents = newKvEvents(site);
  const slot = new EngineSlot(() => options.buildEngine(kvEvents));
  return {
    ...{ runs, kvEvents, slot },
    stats: new EngineStats(options.maxModelLen),
    faults: new FaultPlan(options.faults, endProcess),
    frames: newFrames(site),
    timelines: new TimelineFacts({ ...site, slot, runs }),
    spans: new RunSpans(tracer),
    loop: new StepLoop({ clock, slot }),
    pace: new StepPace(),
    mailbox: new Mailbox({ ...site, slot }),
    finished: new FinishedRuns(),
    incoming: new IncomingRuns(),
    takenJobs: new TakenJobs(),
  };
}

function newFrames({ identity, bus, wall }: Site): Frames {
  return new Frames({ engineId: identity.engineId, stage: identity.role, bus, wall });
}

function newKvEvents({ options, wall }: Site): KvEvents | undefined {
  const { facts, kvEvents: publisher } = options;
  return publisher && new KvEvents({ blockSize: facts.blockSize, wall, publisher });
}
