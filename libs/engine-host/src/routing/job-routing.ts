import type { EngineJob, Placed, Stage } from '@baton/contract';
import type { AdmissionContext } from '@baton/policies';
import type { QueueName } from '@baton/transport';

/** A job and its queue; `job.placed` agrees with it. */
export interface RoutedJob {
  readonly queue: QueueName;
  readonly job: EngineJob;
}

/** An engine whose own queue must not have waiting jobs. */
export interface UnavailableEngine {
  readonly engineId: string;
  readonly stage: Stage;
}

/** Decides the queues of jobs; every process that adds jobs uses it in the same way. */
export interface JobRouting {
  /** A job of a new request, by its flow. */
  atArrival(job: EngineJob): RoutedJob;
  /** The decode job of a prompt that is held now. */
  atHandoff(job: EngineJob): RoutedJob;
  /** A job that was placed in this stage before and must be placed again. */
  again(stage: Stage, job: EngineJob): RoutedJob;
  /**
   * A request on its way to a decode engine chosen at arrival counts as load of it until
   * `hasArrived`.
   */
  expect(engineId: string, promptTokens: number, hasArrived: () => boolean): void;
  /** Engines that drain or are silent. Their waiting jobs must be placed again. */
  unavailableEngines(): readonly UnavailableEngine[];
  /**
   * An admission policy's view of the stage for this prompt, with `waitingRequests` before it;
   * undefined when no engine has published its load.
   */
  observeForAdmission(
    stage: Stage,
    job: PromptFacts,
    waitingRequests: number,
  ): AdmissionContext | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The facts of a job before it is planned. */
export type PromptFacts = Pick<
  EngineJob,
  'promptTokens' | 'blockHashes' | 'sessionKey' | 'adapter' | 'dataParallelRank'
>;

/** The queue in which a job starts. */
export function entryQueue(job: EngineJob): QueueName {
  const { engineId, placed } = job;
  if (engineId !== undefined) return engineQueue(engineId);
  if (placed?.own !== undefined) return engineQueue(placed.own.engineId);
  return sharedQueue(placed?.stage ?? entryStage(job), job.dataParallelRank);
}

/**
 * The shared queue of all engines of a stage, or of all those with the given data-parallel rank.
 */
export function sharedQueue(stage: Stage, rank: number | undefined): QueueName {
  return rank === undefined ? stage : `${stage}:rank-${rank}`;
}

export function engineQueue(engineId: string): QueueName {
  return `engine:${engineId}`;
}

function entryStage({ flow }: EngineJob): Stage {
  switch (flow) {
    case 'route':
    case 'hold':
      return 'prefill';
    case 'attach':
      return 'decode';
    case 'local':
      return 'aggregated';
  }
}

/** The earlier queue of a job of this stage, so that adding it again changes nothing. */
export function routedTo(stage: Stage, job: EngineJob, placed: Placed | undefined): RoutedJob {
  if (placed === undefined) return { queue: sharedQueue(stage, job.dataParallelRank), job };
  const placedJob = { ...job, placed };
  return { queue: entryQueue(placedJob), job: placedJob };
}

/**
 * `pull`: every job goes into the shared queue of its stage, and engines take jobs as they have
 * room.
 */
export class SharedQueues implements JobRouting {
  atArrival(job: EngineJob): RoutedJob {
    return { queue: entryQueue(job), job };
  }

  atHandoff(job: EngineJob): RoutedJob {
    return this.again('decode', job);
  }

  again(stage: Stage, job: EngineJob): RoutedJob {
    return { queue: sharedQueue(stage, job.dataParallelRank), job };
  }

  expect(): void {
    // Empty: no router reads loads.
  }

  unavailableEngines(): readonly UnavailableEngine[] {
    return [];
  }

  observeForAdmission(): undefined {
    return undefined;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
