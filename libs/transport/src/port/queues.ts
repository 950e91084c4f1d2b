import type { EngineJob, Epoch, Stage } from '@baton/contract';
import type { HandoffRecord, RequestResult, RunPermit, RunStart } from './ledger';

/**
 * The queue of a job: the shared queue of a stage, that of one data-parallel rank of its engines,
 * or the own queue of one engine.
 */
export type QueueName = Stage | `${Stage}:rank-${number}` | `engine:${string}`;

export interface JobQueues {
  /** Adds all jobs in one round trip. A job id that is queued or running is not added again. */
  add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void>;
  consume(queue: QueueName, options: ConsumeOptions): JobConsumer;
  /** Number of jobs that wait in the queue, without taken ones. */
  waiting(queue: QueueName): Promise<number>;
  /**
   * Ends the own queue of a lost engine: takes every job out of it, waiting or held, and returns
   * them. Two callers never get the same job.
   */
  abandon(queue: QueueName): Promise<EngineJob[]>;
  /**
   * Takes out of an engine's own queue the jobs that a policy placed there (`job.placed`) and that
   * no worker holds: those that wait, and those whose lock has run out. Two callers never get the
   * same job. Jobs that the engine holds stay with it.
   */
  reclaim(queue: QueueName): Promise<EngineJob[]>;
  /** Puts the jobs that a process held when it ended back to the front of the queue. */
  release(queue: QueueName, ended: ProcessId): Promise<void>;
}

/** A process of the system, in the names of `os.hostname()` and `process.pid`. */
export interface ProcessId {
  readonly host: string;
  readonly pid: number;
}

export interface ConsumeOptions {
  /**
   * The number of further jobs that may be taken now, 0 to stop. Called before each take, and again
   * after `JobConsumer.wake()`.
   */
  room(): number;
  /**
   * Whether the consumer is idle. Of several consumers with room, an idle one takes first. Absent:
   * the consumer never counts as idle. Called before each take, and after `JobConsumer.wake()`.
   */
  isIdle?(): boolean;
  /**
   * Each take is one step with `RequestLedger.begin` of a run of the job; the result is in
   * `TakenJob.permit`. Absent: no run begins.
   */
  readonly begins?: RunClaim;
  /** A taken job. It stays locked, its lock renewed, until `done` or `giveBack`. */
  onJob(job: TakenJob): void;
  /**
   * Called when the lock of a taken job is lost: another worker has taken the job since, because
   * this process was late, or the broker has lost its data. End the run now.
   */
  onLockLost(job: TakenJob): void;
}

/** The part of a run's start that is the same for every run of one consumer. */
export type RunClaim = Pick<RunStart, 'stage' | 'engineId' | 'maxRuns'>;

export interface TakenJob {
  /** Check it before use (`invalidFieldOf`): others can write to a shared broker, or lose data. */
  readonly job: EngineJob;
  /** The ledger's answer at the take; undefined for a take without `begin`. */
  readonly permit: RunPermit | undefined;
  /** Removes the job. Resolves false when the lock was lost. */
  done(): Promise<boolean>;
  /**
   * `RequestLedger.finishRequest` and `done` in one step; `done` alone has no effect afterwards.
   * Resolves to the ledger's answer. A job whose lock is lost stays, and its request still ends.
   */
  finishJob(finish: JobFinish): Promise<boolean>;
  /**
   * `RequestLedger.handOff`, `JobQueues.add` of the next job if that is accepted, and, with
   * `leaves`, `done`, in one step. Resolves to the ledger's answer.
   */
  handOver(handOver: HandOver): Promise<boolean>;
  /** Puts the job back at the front of the queue, for a worker that drains. */
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
  /** True to remove the job, whatever the ledger answers. */
  readonly leaves: boolean;
}

export interface JobConsumer {
  /** Call it when room can have grown or the last work has ended. */
  wake(): void;
  /** Stops taking; keeps renewing the locks of running jobs. */
  pause(): void;
  /** Stops taking and renewing. Jobs still held stall and move to another worker. */
  close(): Promise<void>;
}
