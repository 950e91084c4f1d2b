import { LiveClock } from '@baton/clock';
import { EngineStats, type Logger, moduleLogger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import type { Tracer } from '@opentelemetry/api';
import { FailedFetches } from './decode/failed-fetches';
import { KvLoads } from './decode/kv-loads';
import { Reservations } from './decode/reservations';
import { TargetSide } from './decode/target-side';
import { Transfers } from './decode/transfers';
import { ConservationAudit } from './host/conservation-audit';
import { CrashRecovery } from './host/crash-recovery';
import { EngineDrain } from './host/drain';
import { GaugeReader } from './host/engine-gauges';
import { EngineHost } from './host/engine-host';
import { EngineNumbers } from './host/engine-numbers';
import { Inspection } from './host/inspection';
import { LoadBeacon } from './host/load-beacon';
import { MailDelivery } from './host/mail-delivery';
import { Operations } from './host/operations';
import { PresenceBeacon } from './host/presence';
import { RunClaims } from './host/run-claims';
import { Startup } from './host/startup';
import { Sweep } from './host/sweep';
import { WarmStart } from './host/warm-start';
import { Handoff } from './prefill/handoff';
import { HeldKv } from './prefill/held-kv';
import { RouterAnswer } from './prefill/router-answer';
import { SourceSide } from './prefill/source-side';
import { type JobRouting, SharedQueues } from './routing/job-routing';
import { Endings } from './run/endings/endings';
import { FinishedRuns } from './run/endings/finished-runs';
import { EngineIdentity } from './run/engine/engine-identity';
import { EngineSlot } from './run/engine/engine-slot';
import { FaultPlan, wantsFaults } from './run/engine/fault-plan';
import { Mailbox } from './run/engine/mailbox';
import { StepLoop } from './run/engine/step-loop';
import { JobFaults } from './run/faults/job-faults';
import { EngineEntry } from './run/jobs/engine-entry';
import { Intake } from './run/jobs/intake';
import { NewRuns, RefusedRuns, RunStarter } from './run/jobs/run-starter';
import { TakenJobs } from './run/jobs/taken-jobs';
import { KvEvents } from './run/observers/kv-events';
import { RunSpans } from './run/observers/run-spans';
import { TimelineFacts } from './run/observers/timeline-facts';
import { PoolNode } from './run/pool/pool-node';
import { Frames } from './run/runs/frames';
import { IncomingRuns, RunTable } from './run/runs/run';
import { DecodeStage, PrefillStage } from './run/stages';
import { FrameResender } from './run/steps/resend';
import { StepFrames } from './run/steps/step-frames';
import { StepPace } from './run/steps/step-pace';
import { StepReports } from './run/steps/step-reports';
import {
  Broker,
  Bus,
  Documents,
  EndProcess,
  HostOptions,
  Jobs,
  Ledger,
  Log,
  Orders,
  Routing,
  Wall,
} from './run/tokens';

/** The ways of the two stages; apps/prefill and apps/decode have them. */
export interface Stages {
  readonly prefill: Type<PrefillStage>;
  readonly decode: Type<DecodeStage>;
}

/** What an engine gets from its process. */
export interface EngineSite {
  readonly stages: Stages;
  readonly transport: Transport;
  readonly clock: LiveClock;
  readonly log: Logger;
  /** Unset: shared queues. */
  readonly routing?: JobRouting;
  /** Unset when tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** Unset: orders are ignored. */
  readonly onOrder?: Orders;
  /** Unset: SIGKILL. */
  readonly endProcess?: EndProcess;
}

/**
 * One engine on the wall clock, or one data-parallel rank of it. Each has an instance of this
 * module of its own; it starts and drains by Nest's lifecycle hooks, see `EngineHost`.
 */
@Module({})
export class EngineModule {
  /** @param identity made by the caller, so that ranks can name their leader */
  static forEngine(
    identity: EngineIdentity,
    options: HostOptions,
    site: EngineSite,
  ): DynamicModule {
    return {
      module: EngineModule,
      providers: [
        { provide: EngineIdentity, useValue: identity },
        { provide: HostOptions, useValue: options },
        ...environment(site),
        ...observers(options, site),
        ...ENGINE,
        ...RUNS,
        ...HANDOFF,
        ...DUTIES,
        ...(options.executor ?? []),
        { provide: PrefillStage, useClass: site.stages.prefill },
        { provide: DecodeStage, useClass: site.stages.decode },
      ],
      exports: [EngineHost],
    };
  }
}

function environment({
  transport,
  clock,
  log,
  routing,
  onOrder,
  endProcess,
}: EngineSite): Provider[] {
  return [
    { provide: Broker, useValue: transport },
    { provide: Bus, useValue: transport.bus },
    { provide: Jobs, useValue: transport.jobs },
    { provide: Ledger, useValue: transport.ledger },
    { provide: Documents, useValue: transport.documents },
    { provide: LiveClock, useValue: clock },
    { provide: Wall, useValue: clock.wall },
    { provide: Log, useValue: moduleLogger(log, 'engine').child({}) },
    { provide: Routing, useValue: routing ?? new SharedQueues() },
    { provide: Orders, useValue: onOrder ?? (() => undefined) },
    { provide: EndProcess, useValue: endProcess ?? killProcess },
  ];
}

/** What watches an engine: each only where it is configured. */
function observers(options: HostOptions, { tracer }: EngineSite): Provider[] {
  const { kvEvents: publisher, kvPool, faults, facts, publishesTimelines } = options;
  const { blockSize } = facts;
  const all: Provider[] = [];
  if (publisher !== undefined) {
    const useFactory = (wall: Wall): KvEvents => new KvEvents({ blockSize, wall, publisher });
    all.push({ provide: KvEvents, inject: [Wall], useFactory });
  }
  if (kvPool !== undefined) all.push(PoolNode);
  if (publishesTimelines) all.push(TimelineFacts);
  if (tracer !== undefined) all.push({ provide: RunSpans, useValue: new RunSpans(tracer) });
  if (wantsFaults(faults)) {
    const useFactory = (crash: EndProcess): FaultPlan => new FaultPlan(faults, crash);
    all.push({ provide: FaultPlan, inject: [EndProcess], useFactory });
  }
  return all;
}

const optional = (token: Type): { token: Type; optional: true } => ({
  token,
  optional: true,
});

/** The engine, its loop and its mail. */
const ENGINE: Provider[] = [
  {
    provide: EngineStats,
    inject: [HostOptions],
    useFactory: ({ maxModelLen }: HostOptions) => new EngineStats(maxModelLen),
  },
  {
    provide: EngineSlot,
    inject: [HostOptions, optional(KvEvents), optional(PoolNode)],
    useFactory: ({ buildEngine }: HostOptions, events?: KvEvents, pool?: PoolNode) =>
      new EngineSlot(() => buildEngine(events, pool?.restart())),
  },
  {
    provide: StepLoop,
    inject: [HostOptions, LiveClock, EngineSlot],
    useFactory: newStepLoop,
  },
  {
    provide: Frames,
    inject: [EngineIdentity, Bus, Wall],
    useFactory: ({ engineId, role: stage }: EngineIdentity, bus: Bus, wall: Wall) =>
      new Frames({ engineId, stage, bus, wall }),
  },
  StepPace,
  Mailbox,
  MailDelivery,
];

/** From a job in a queue to its end. */
const RUNS: Provider[] = [
  RunTable,
  IncomingRuns,
  TakenJobs,
  FinishedRuns,
  Endings,
  JobFaults,
  RefusedRuns,
  RunStarter,
  EngineEntry,
  NewRuns,
  Intake,
  StepFrames,
  StepReports,
  FrameResender,
];

/** Both ends of hand-overs. */
const HANDOFF: Provider[] = [
  Handoff,
  HeldKv,
  RouterAnswer,
  SourceSide,
  FailedFetches,
  Transfers,
  KvLoads,
  Reservations,
  TargetSide,
];

/** Besides the work: reports, commands of operators, recovery, cleaning up, leaving. */
const DUTIES: Provider[] = [
  RunClaims,
  CrashRecovery,
  Operations,
  ConservationAudit,
  GaugeReader,
  EngineNumbers,
  Inspection,
  WarmStart,
  PresenceBeacon,
  Startup,
  LoadBeacon,
  Sweep,
  EngineDrain,
  EngineHost,
];

function newStepLoop(options: HostOptions, clock: LiveClock, slot: EngineSlot): StepLoop {
  const isInPool = options.kvPool !== undefined;
  return new StepLoop({
    clock,
    slot,
    barrier: options.dataParallel?.barrier,
    // A prompt is handed over at its logical end, even if the message about it is late.
    isPrecise: options.role !== 'prefill',
    hasGrace: !isInPool,
    leadUs: isInPool ? 0 : (options.resultLeadUs ?? 0),
  });
}

function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
