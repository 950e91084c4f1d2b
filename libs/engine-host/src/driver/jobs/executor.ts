import type { LiveClock } from '@baton/clock';
import type { EngineMessage } from '@baton/contract';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { Frames } from '../../live-engine/runs/frames';
import type { Mailbox } from '../../live-engine/engine/mailbox';
import type { Run, RunTable } from '../../live-engine/runs/run';
import type { Incoming } from '@baton/policies';
import type { Logger, UpstreamKey } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { Endings } from '../endings/endings';
import type { FailedFetches } from '../handoff/failed-fetches';
import type { Handoff } from '../handoff/handoff';
import type { DriverOptions } from '../options';
import type { StageWork } from './run-start';

/** Does the work of a stage instead of a simulated engine. */
export interface Executor extends StageWork {
  /** The number of further jobs that it takes now. */
  roomLeft(incoming: Incoming): number;
  /** Ends the work of a run that is over. */
  cancel(run: Run): void;
  /** Runs whose leg continues although decode already has their request. */
  pairedRuns(): readonly Run[];
  /** Engines whose leg must end before a leg of this engine can continue. */
  sources(): readonly string[];
  onSourceLost(engineId: string): void;
  /** State and counters of its server; the counters have their names in the presence. */
  numbers(): ExecutorNumbers;
  /** Its server's page of metrics; empty while the server does not answer. */
  metricsPage(): Promise<string>;
  onLegOver(message: Extract<EngineMessage, { kind: 'leg-over' }>): void;
  /** Starts to watch its server; calls `onState` when it goes down or comes up again. */
  open(onState: (isUp: boolean) => void): void;
  close(): Promise<void>;
}

export interface ExecutorNumbers {
  readonly isUp: boolean;
  readonly counters: Readonly<Record<UpstreamKey, number>>;
}

/** The environment of an executor: the engine's place in the cluster. */
export interface ExecutorSite {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'facts' | 'maxRuns' | 'workerLossPolicy'>;
  readonly transport: Transport;
  readonly clock: LiveClock;
  readonly log: Logger;
}

/** The calls by which an executor moves and ends runs. */
export interface ExecutorParts {
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly frames: Frames;
  readonly endings: Endings;
  readonly failed: FailedFetches;
  readonly handoff: Handoff;
  readonly mailbox: Mailbox;
}

export type NewExecutor = (site: ExecutorSite, parts: ExecutorParts) => Executor;
