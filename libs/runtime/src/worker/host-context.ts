import type { EnginePort } from '@baton/engine';
import type { Transport } from '@baton/transport';
import type { LiveClock } from '../clock/live-clock';
import type { Logger } from '../logs/logger';
import type { JobRouting } from '../placement/job-routing';
import type { KvEvents } from '../kv-events/kv-events';
import type { EngineStats } from '../metrics/engine-stats';
import type { FaultPlan } from './fault-plan';
import type { Frames } from './frames';
import type { RunSpans } from '../tracing/run-spans';
import type { HostOptions } from './host-options';
import type { RunTable } from './run';
import type { StepLoop } from './step-loop';
import type { TimelineFacts } from './timeline-facts';

/** What all parts of one engine host share. */
export interface HostContext {
  readonly engineId: string;
  readonly options: HostOptions;
  readonly clock: LiveClock;
  readonly transport: Transport;
  readonly routing: JobRouting;
  readonly runs: RunTable;
  readonly frames: Frames;
  readonly loop: StepLoop;
  readonly stats: EngineStats;
  /** Undefined where none are published. */
  readonly kvEvents: KvEvents | undefined;
  readonly timelines: TimelineFacts;
  readonly spans: RunSpans;
  readonly faults: FaultPlan;
  readonly log: Logger;
  /** The present engine: another one after a crash. */
  readonly engine: EnginePort;
  /** Runs what touches the engine from outside a step; should the engine throw, the host takes over. */
  guard(run: () => void): void;
}
