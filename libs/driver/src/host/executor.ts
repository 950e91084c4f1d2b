import type { EngineMessage } from '@baton/contract';
import type { Incoming } from '@baton/placement';
import type { UpstreamKey } from '@baton/telemetry';
import type { HandOverRecord } from '@baton/transport';
import type { FailedFetches } from '../handover/failed-fetches';
import type { Endings } from '../jobs/endings';
import type { Run } from '../jobs/run';
import type { HostContext } from './host-context';
import type { Mailbox } from './mailbox';

/** Whoever does the work of a stage instead of a simulated engine. */
export interface Executor {
  /** How many more jobs it takes now. */
  roomLeft(incoming: Incoming): number;
  /** The ledger has let the run begin; `handOver` is what its prefill left, on decode. */
  start(run: Run, handOver: HandOverRecord | undefined): void;
  /** The run is over, whatever it was doing. */
  cancel(run: Run): void;
  /** Runs whose leg goes on although their request is with decode already. */
  pairedRuns(): readonly Run[];
  /** Engines whose leg must do its part for one here to go on. */
  sources(): readonly string[];
  onSourceLost(engineId: string): void;
  /** Of what it stands on; the counters by their names in the presence. */
  numbers(): ExecutorNumbers;
  /** What it stands on counts itself, to a channel. */
  tellMetrics(replyTo: string): void;
  onLegOver(message: Extract<EngineMessage, { kind: 'leg-over' }>): void;
  /** Begins to watch what it stands on, and says when that goes down or comes up again. */
  open(onState: (isUp: boolean) => void): void;
  close(): Promise<void>;
}

export interface ExecutorNumbers {
  readonly isUp: boolean;
  readonly counters: Readonly<Record<UpstreamKey, number>>;
}

/** Where a run can end besides its own end. */
export interface ExecutorSides {
  readonly endings: Endings;
  readonly failed: FailedFetches;
  readonly mailbox: Mailbox;
}

export type NewExecutor = (context: HostContext, sides: ExecutorSides) => Executor;
