import { type EngineJob, invalidFieldOf } from '@baton/contract';
import type { EngineSnapshot } from '@baton/engine';
import { Room } from '@baton/policies';
import { EngineStats } from '@baton/telemetry';
import type { ConsumeOptions, JobConsumer, QueueName, TakenJob } from '@baton/transport';
import { type BeforeApplicationShutdown, Injectable, Optional } from '@nestjs/common';
import { engineQueue, sharedQueue } from '../../routing/job-routing';
import { Endings } from '../endings/endings';
import { endQuietly } from '../engine/end-quietly';
import { EngineIdentity } from '../engine/engine-identity';
import { EngineSlot } from '../engine/engine-slot';
import { StepLoop } from '../engine/step-loop';
import { IncomingRuns, type Run, RunTable } from '../runs/run';
import { DecodeStage, PrefillStage } from '../stages';
import { HostOptions, Jobs, Log } from '../tokens';
import { Executor } from './executor';
import { stageOf } from './run-starter';

/**
 * Takes jobs while the engine has room, and gives each to the way of its stage.
 *
 * This is BullMQ's place in an engine. `@nestjs/bullmq`'s processors do not fit: they take a fixed
 * number of jobs at a time where room depends on tokens and blocks, they have no permit of the
 * ledger in the take, and the job of a lost worker waits until BullMQ's lock has ended. The
 * transport's consumers take by BullMQ's data format; see libs/transport.
 */
@Injectable()
export class Intake implements BeforeApplicationShutdown {
  private consumers: JobConsumer[] = [];
  private isOpen = false;
  /** The engine before the results of the last step, until the batch behind it is formed. */
  private before: EngineSnapshot | undefined;
  private readonly room: Room;
  /** The fields for which invalid jobs were dropped; each is logged once. */
  private readonly dropped = new Set<string>();

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly jobs: Jobs,
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly runs: RunTable,
    private readonly incoming: IncomingRuns,
    private readonly prefill: PrefillStage,
    private readonly decode: DecodeStage,
    private readonly endings: Endings,
    private readonly stats: EngineStats,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
  ) {
    this.room = new Room(options.role, options.facts);
  }

  /** Takes from the shared queues of the stage and of its rank, and from the engine's own queue. */
  open(): void {
    const { jobs, slot } = this;
    this.isOpen = true;
    this.consumers = this.queues().map((queue) =>
      jobs.consume(queue, {
        ...this.ofShared(queue),
        room: () => this.guardedRoom(),
        onJob: (taken) => this.receive(taken),
        onLockLost: (taken) => slot.guard(() => this.loseLock(taken)),
      }),
    );
  }

  /**
   * Call it before the results of a step are applied. Until `giveRoom`, jobs are taken only for the
   * room that the engine had before the step ended. A job that waits for the room of an ending
   * sequence must not enter the batch that is due at the same instant.
   */
  keepRoom(): void {
    this.before = this.slot.engine.snapshot();
  }

  giveRoom(): void {
    this.before = undefined;
  }

  /** Tries to take more jobs; call it when room can have grown. */
  wake(): void {
    this.before = undefined;
    for (const consumer of this.consumers) consumer.wake();
  }

  /** Takes no more jobs; running ones keep their locks. */
  pause(): void {
    this.isOpen = false;
    for (const consumer of this.consumers) consumer.pause();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const closed = this.consumers.map((consumer) => consumer.close());
    await endQuietly(Promise.all(closed), this.log);
  }

  private queues(): QueueName[] {
    const { engineId, role, dataParallel } = this.identity;
    const ofRank = dataParallel === undefined ? [] : [sharedQueue(role, dataParallel.rank)];
    return [role, ...ofRank, engineQueue(engineId)];
  }

  /**
   * A shared queue determines the stage of its jobs, so their runs begin with the take; and other
   * engines take from it, idle ones first.
   */
  private ofShared(queue: QueueName): Pick<ConsumeOptions, 'begins' | 'isIdle'> {
    const { identity, options } = this;
    const { engineId, role } = identity;
    if (queue === engineQueue(engineId)) return {};
    const begins = { stage: role, engineId, maxRuns: options.maxRuns };
    return { begins, isIdle: () => this.guardedIdle() };
  }

  /** An engine that throws is replaced, and the room of the new one is asked for. */
  private guardedRoom(): number {
    let room = 0;
    if (this.isOpen) this.slot.guard(() => (room = this.roomLeft()));
    return room;
  }

  private guardedIdle(): boolean {
    let isIdle = false;
    this.slot.guard(() => (isIdle = this.isIdle));
    return isIdle;
  }

  /**
   * True when the engine has no work and none is on its way to it. A step whose results are sent
   * ahead is work until its end.
   */
  private get isIdle(): boolean {
    const { executor, runs, slot, loop, incoming, decode } = this;
    if (!this.isOpen || incoming.sequences > 0) return false;
    if (executor !== undefined) return runs.size === 0;
    if (loop.isStepping) return false;
    const { running, waiting, deferred } = slot.engine.snapshot();
    return running + waiting + deferred + decode.waitingForRoom === 0;
  }

  /** The number of further jobs that the engine can take now. */
  private roomLeft(): number {
    const { executor, slot, incoming, decode } = this;
    if (executor !== undefined) return executor.roomLeft(incoming);
    const roomIn = (engine: EngineSnapshot): number =>
      this.room.left(engine, incoming, decode.waitingForRoom);
    const left = roomIn(slot.engine.snapshot());
    return this.before === undefined ? left : Math.min(left, roomIn(this.before));
  }

  /** A job whose take throws leaves the queue; the job of an ended run has left it already. */
  private receive(taken: TakenJob): void {
    const { slot, endings } = this;
    try {
      const field = invalidFieldOf(taken.job);
      if (field === undefined) this.take(taken);
      else this.dropInvalid(taken, field);
    } catch (error) {
      slot.crashed(error);
      endings.removeJob(taken);
    }
  }

  /** Nothing is known of the request of such a job; the API that awaits it submits it again. */
  private dropInvalid(taken: TakenJob, field: string): void {
    const { endings, stats, log } = this;
    stats.add('jobs_dropped');
    if (!this.dropped.has(field))
      log.warn(
        { field },
        'dropped a job whose data is missing or not valid; further ones count only',
      );
    this.dropped.add(field);
    endings.removeJob(taken);
  }

  private take(taken: TakenJob): void {
    const { runs, endings, identity } = this;
    const { job } = taken;
    if (!this.isOpen) {
      endings.returnJob(taken);
      return;
    }
    const former = runs.get(job.requestId);
    if (former && former.job.submission > job.submission) {
      // The job stalled with its worker, and its request was resubmitted meanwhile.
      endings.removeJob(taken);
      return;
    }
    if (former) this.replace(former, job);
    this.room.observe(job.promptTokens);
    const way = stageOf(job, identity.role) === 'prefill' ? this.prefill : this.decode;
    way.take(taken);
  }

  /**
   * A run of an older submission: this worker still removes its job. The same job again: it has a
   * new lock.
   */
  private replace(former: Run, job: EngineJob): void {
    const isSame = former.job.submission === job.submission;
    this.endings.end(former, isSame ? 'supersede' : 'drop');
  }

  private loseLock(taken: TakenJob): void {
    const { runs, stats, endings } = this;
    const run = runs.get(taken.job.requestId);
    stats.add('job_locks_lost');
    if (run?.taken === taken) endings.end(run, 'loseLock');
  }
}
