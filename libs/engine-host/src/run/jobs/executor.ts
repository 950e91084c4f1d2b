import type { EngineMessage } from '@baton/contract';
import type { Incoming } from '@baton/policies';
import type { UpstreamKey } from '@baton/telemetry';
import type { HandoffRecord } from '@baton/transport';
import type { Run } from '../runs/run';

/** Does the work of a stage instead of a simulated engine. */
export abstract class Executor {
  /** Starts a run that the ledger permits; on decode, `handoff` is the record of its prefill. */
  abstract start(run: Run, handoff: HandoffRecord | undefined): void;
  /** The number of further jobs that it takes now. */
  abstract roomLeft(incoming: Incoming): number;
  /** Ends the work of a run that is over. */
  abstract cancel(run: Run): void;
  /** Runs whose leg continues although decode already has their request. */
  abstract pairedRuns(): readonly Run[];
  /** Engines whose leg must end before a leg of this engine can continue. */
  abstract sources(): readonly string[];
  abstract onSourceLost(engineId: string): void;
  /** State and counters of its server; the counters have their names in the presence. */
  abstract numbers(): ExecutorNumbers;
  /** Its server's page of metrics; empty while the server does not answer. */
  abstract metricsPage(): Promise<string>;
  abstract onLegOver(message: Extract<EngineMessage, { kind: 'leg-over' }>): void;
  /** Starts to watch its server; calls `onState` when it goes down or comes up again. */
  abstract open(onState: (isUp: boolean) => void): void;
}

export interface ExecutorNumbers {
  readonly isUp: boolean;
  readonly counters: Readonly<Record<UpstreamKey, number>>;
}
