import type { LiveClock } from '@baton/clock';
import type { EnginePort } from '@baton/engine';
import type { JobRouting } from '@baton/routing';
import type { EngineStats, Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { FaultPlan } from '../jobs/fault-plan';
import type { RunTable } from '../jobs/run';
import type { RunSpans } from '../jobs/run-spans';
import type { KvEvents } from '../kv-events/kv-events';
import type { Frames } from '../steps/frames';
import type { StepLoop } from '../steps/step-loop';
import type { HostOptions } from './host-options';
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
