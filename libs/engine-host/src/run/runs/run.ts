import type { EngineJob, Epoch, Stage } from '@baton/contract';
import type { SequenceHandle } from '@baton/engine';
import type { SourceName } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import type { TakenJob } from '@baton/transport';
import type { FrameOutbox } from './frames';
import type { KeptPayloads } from './kept-payloads';

/**
 * `beginning`: the request for the ledger's permit is under way. `running`: the engine has it, or
 * is about to. `moving-on`: the hand-over to another stage is under way; from here on the loss of
 * the job's lock changes nothing. `over`: nothing more happens under this run.
 */
export type RunState = 'beginning' | 'running' | 'moving-on' | 'over';

/** The KV that a decode run fetches. */
export interface Fetching {
  readonly source: SourceName;
  /** Set for parameters from outside: see the `read` message. */
  readonly claim: number | undefined;
  /** Set for blocks that decode has kept: leading tokens that the claim covers. */
  readonly claimedTokens: number | undefined;
  /** Logical instant of the reservation; undefined until the engine had room. */
  reservedUs: Micros | undefined;
  missingTokens: number;
  hasInjectedFault: boolean;
  /** True when too little is missing, so that it is computed here. */
  isDeclined: boolean;
  transferStartedUs: Micros;
}

/**
 * One job of this engine, from the queue to its end here. Hot fields are plain, so that a step
 * reads nothing else.
 */
/** `handle` of a run outside the engine; tests compare with 0. */
export const NO_HANDLE: SequenceHandle = -1;

export interface Run {
  readonly job: EngineJob;
  readonly taken: TakenJob;
  readonly stage: Stage;
  readonly outbox: FrameOutbox;
  /** Logical instant of the cause on this engine's timeline. */
  causeUs: Micros;
  epoch: Epoch;
  state: RunState;
  /** `NO_HANDLE` outside the engine. */
  handle: SequenceHandle;
  /** Tokens published so far. */
  emitted: number;
  /** True when it is taken but not in the engine yet. */
  isIncoming: boolean;
  isScheduled: boolean;
  /** True when the KV that it fetched is there. */
  hasFetched: boolean;
  isEnding: boolean;
  firstTokenUs: Micros;
  transferredTokens: number;
  /** Prompt tokens that this engine computes for it; set when it is first scheduled. */
  computedTokens: number;
  /** Number of times that the engine preempted it. */
  preemptions: number;
  fetching: Fetching | undefined;
  /** The published payloads of an executing run. */
  payloads?: KeptPayloads;
  /** Tokens that pass before a fault of the job strikes; infinite without one. */
  faultAfterTokens: number;
  /** True when its job has already killed a process and is spared. */
  hasKilledProcess: boolean;
}

/** Check it again after every await. */
export function isRunOver(run: Run): boolean {
  return run.state === 'over';
}

/** The runs of one engine, by request and by engine handle. */
export class RunTable {
  private readonly byRequest = new Map<string, Run>();
  private readonly byHandle: (Run | undefined)[] = [];

  get size(): number {
    return this.byRequest.size;
  }

  get(requestId: string): Run | undefined {
    return this.byRequest.get(requestId);
  }

  at(handle: SequenceHandle): Run | undefined {
    return this.byHandle[handle];
  }

  all(): Run[] {
    return [...this.byRequest.values()];
  }

  add(run: Run): void {
    this.byRequest.set(run.job.requestId, run);
  }

  bind(run: Run, handle: SequenceHandle): void {
    run.handle = handle;
    this.byHandle[handle] = run;
  }

  /** Removes the handle of a run that the engine no longer has. */
  unbind(run: Run): void {
    if (run.handle >= 0) this.byHandle[run.handle] = undefined;
    run.handle = NO_HANDLE;
  }

  remove(run: Run): void {
    this.unbind(run);
    run.state = 'over';
    const { requestId } = run.job;
    if (this.byRequest.get(requestId) === run) this.byRequest.delete(requestId);
  }
}

/** Runs that were taken from a queue and are not in the engine yet. */
export class IncomingRuns {
  sequences = 0;
  promptTokens = 0;

  add(run: Run): void {
    run.isIncoming = true;
    this.sequences += 1;
    this.promptTokens += run.job.promptTokens;
  }

  /** The run has entered the engine, or will not. Idempotent. */
  settle(run: Run): void {
    if (!run.isIncoming) return;
    run.isIncoming = false;
    this.sequences -= 1;
    this.promptTokens -= run.job.promptTokens;
  }
}
