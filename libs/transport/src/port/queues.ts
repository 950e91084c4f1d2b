import type { EngineJob, Epoch, Stage } from '@baton/contract';
import type { HandoffRecord, RequestResult, RunPermit, RunStart } from './ledger';

/**
 * Where a job waits: the shared queue of a stage, that of one data-parallel rank of its engines, or
 * the own queue of one engine.
 */
export type QueueName = Stage | `${Stage}:rank-${number}` | `engine:${string}`;

export interface JobQueues {
  /** Adds all jobs in one round trip. A job id that is already queued or running is left alone. */
  add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void>;
  consume(queue: QueueName, options: ConsumeOptions): JobConsumer;
  /** Jobs that wait in the queue (not those taken). */
  waiting(queue: QueueName): Promise<number>;
  /**
   * Ends the own queue of a lost engine: takes every job out of it, waiting or held, and returns
   * them. Two callers never get the same job.
   */
  abandon(queue: QueueName): Promise<EngineJob[]>;
  /**
   * Takes out of an engine's own queue the jobs that a policy placed there (`job.placed`) and that
   * no worker holds: those that wait, and those whose lock has run out. Two callers never get the
   * same job. What the engine holds stays with it.
   */
  reclaim(queue: QueueName): Promise<EngineJob[]>;
}

export interface ConsumeOptions {
  /**
   * How many further jobs may be taken now, 0 to stop. Called before each take, and again after
   * `JobConsumer.wake()`.
   */
  room(): number;
  /**
   * Whether the consumer has nothing to do: of several with room, such a one takes before one that
   * has. Absent: it never counts as idle. Asked before each take, and after `JobConsumer.wake()`.
   */
  isIdle?(): boolean;
  /**
   * Each take is a step with `RequestLedger.begin` of a run of the job, which is in
   * `TakenJob.permit`. Absent: no run begins.
   */
  readonly begins?: RunClaim;
  /** A taken job. It stays locked, its lock renewed, until `done` or `giveBack`. */
  onJob(job: TakenJob): void;
  /**
   * The lock of a taken job is lost: another worker has taken the job since (this process was
   * late), or the broker forgot it. End the run now.
   */
  onLockLost(job: TakenJob): void;
}

/** What is the same for every run of one consumer. */
export type RunClaim = Pick<RunStart, 'stage' | 'engineId' | 'maxRuns'>;

export interface TakenJob {
  readonly job: EngineJob;
  /** What the ledger said when the job was taken; undefined: it was not asked. */
  readonly permit: RunPermit | undefined;
  /** Removes the job. Resolves false when the lock was no longer ours. */
  done(): Promise<boolean>;
  /**
   * `RequestLedger.finish` and `done` in one step; `done` alone has no effect afterwards. Resolves
   * to what the ledger says. A job whose lock is lost stays, and its request ends all the same.
   */
  finish(finish: JobFinish): Promise<boolean>;
  /**
   * `RequestLedger.handOff`, `JobQueues.add` of the next job where that is accepted, and, with
   * `leaves`, `done`, in one step. Resolves to what the ledger says.
   */
  handOver(handOver: HandOver): Promise<boolean>;
  /** Puts the job back in front, for a worker that drains. */
  giveBack(): Promise<void>;
}

export interface JobFinish {
  readonly epoch: Epoch;
  readonly result: RequestResult;
}

export interface HandOver {
  readonly epoch: Epoch;
  readonly handoff: HandoffRecord;
  readonly next: { readonly queue: QueueName; readonly job: EngineJob };
  /** The job is removed, whatever the ledger says. */
  readonly leaves: boolean;
}

export interface JobConsumer {
  /** Room may have grown, or the last work may have ended. */
  wake(): void;
  /** Stops taking, keeps renewing the locks of what runs. */
  pause(): void;
  /** Stops taking and renewing. Jobs still held stall and move to another worker. */
  close(): Promise<void>;
}
