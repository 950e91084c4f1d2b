import {
  type EngineJob,
  type KvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  type Stage,
  parseRemoteRequestId,
} from '@baton/contract';
import type { SequenceSpec } from '@baton/engine';
import { hashString, unreachable, usToSeconds } from '@baton/kernel';
import { Room } from '@baton/placement';
import { engineQueue, routedTo, sharedQueue } from '@baton/routing';
import type { JobConsumer, QueueName, RunPermit, TakenJob } from '@baton/transport';
import type { DecodeSide } from '../handover/decode-side';
import type { FailedFetches } from '../handover/failed-fetches';
import { EXECUTED } from '../handover/hand-over';
import type { Executor } from '../host/executor';
import type { HostContext } from '../host/host-context';
import type { Endings } from './endings';
import type { JobFaults } from './job-faults';
import { claimOn, claimOnKept } from './kv-reference';
import { type Fetching, isOver, type Run } from './run';
import { TakenJobs } from './taken-jobs';

type Permitted = Extract<RunPermit, { kind: 'run' }>;

export interface IntakeSides {
  readonly decode: DecodeSide;
  readonly endings: Endings;
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
  /** Unset: the engine does the work. */
  readonly executor: Executor | undefined;
}

/** Takes jobs while the engine has room, asks the ledger whether they may run, and brings them into the engine. */
export class Intake {
  private consumers: JobConsumer[] = [];
  private readonly room: Room;
  /** Taken, not yet in the engine. */
  private incoming = { sequences: 0, promptTokens: 0 };
  private readonly taken = new TakenJobs();
  private isOpen = false;

  constructor(
    private readonly context: HostContext,
    private readonly sides: IntakeSides,
  ) {
    this.room = new Room(context.options.role, context.options.facts);
  }

  get incomingSequences(): number {
    return this.incoming.sequences;
  }

  get incomingPromptTokens(): number {
    return this.incoming.promptTokens;
  }

  /** How far the jobs of each router have been taken out of this engine's own queue. */
  takenByRouter(): Readonly<Record<string, number>> {
    return this.taken.byRouter();
  }

  /** Starts taking: from the stage's shared queue, from that of its data-parallel rank, and from the engine's own. */
  open(): void {
    this.isOpen = true;
    this.consumers = this.queues().map((queue) =>
      this.context.transport.jobs.consume(queue, {
        room: () => this.roomLeft(),
        onJob: (taken) => this.context.guard(() => this.take(taken)),
        onLockLost: (taken) => this.context.guard(() => this.loseLock(taken)),
      }),
    );
  }

  private queues(): QueueName[] {
    const { engineId, options } = this.context;
    const { role, dataParallel } = options;
    const ofRank = dataParallel === undefined ? [] : [sharedQueue(role, dataParallel.rank)];
    return [role, ...ofRank, engineQueue(engineId)];
  }

  /** Room may have grown. */
  wake(): void {
    for (const consumer of this.consumers) consumer.wake();
  }

  /** Takes nothing more; what runs keeps its locks. */
  pause(): void {
    this.isOpen = false;
    for (const consumer of this.consumers) consumer.pause();
  }

  async close(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.close()));
  }

  /** The run has entered the engine, or will not. */
  settle(run: Run): void {
    if (!run.isIncoming) return;
    run.isIncoming = false;
    this.incoming.sequences -= 1;
    this.incoming.promptTokens -= run.job.promptTokens;
  }

  private roomLeft(): number {
    if (!this.isOpen) return 0;
    const { executor } = this.sides;
    if (executor !== undefined) return executor.roomLeft(this.incoming);
    const { engine } = this.context;
    return this.room.left(engine.snapshot(), this.incoming, this.sides.decode.waitingForRoom);
  }

  private take(taken: TakenJob): void {
    const { runs, stats, clock } = this.context;
    const { job } = taken;
    if (!this.isOpen) {
      this.settleJob(taken.giveBack());
      return;
    }
    const former = runs.get(job.requestId);
    if (former && former.job.submission > job.submission) {
      // A job that stalled with its worker, and comes when its request has already been submitted again.
      this.settleJob(taken.done());
      return;
    }
    if (former) this.replace(former, job);
    this.room.observe(job.promptTokens);
    this.notePlaced(job);
    stats.observe('job_delivery_seconds', usToSeconds(clock.wall.nowUs() - job.causeUs));
    const run = this.newRun(taken);
    runs.add(run);
    this.context.spans.taken(run, this.context.engineId, clock.wall.nowUs());
    this.context.timelines.note(run, 'taken', { atUs: clock.nowUs() });
    this.incoming.sequences += 1;
    this.incoming.promptTokens += job.promptTokens;
    this.begin(run).catch((error: unknown) => {
      this.context.log.debug({ err: error, requestId: job.requestId }, 'run not begun');
      if (run.state !== 'over') this.context.guard(() => this.sides.endings.giveBack(run));
    });
  }

  private settleJob(settled: Promise<unknown>): void {
    settled.catch((error: unknown) => {
      this.context.log.debug({ err: error }, 'job not settled, it will stall and return');
    });
  }

  private notePlaced({ placed }: EngineJob): void {
    if (placed?.own?.engineId !== this.context.engineId) return;
    this.taken.note(placed.own);
    this.context.stats.add('placed_jobs');
  }

  /** The job of an older submission is still ours to remove; the same job has another lock now. */
  private replace(former: Run, job: EngineJob): void {
    if (former.job.submission === job.submission) this.sides.endings.supersede(former);
    else this.sides.endings.drop(former);
  }

  private newRun(taken: TakenJob): Run {
    const { clock, frames, options } = this.context;
    const { job } = taken;
    return {
      job,
      taken,
      stage: stageOf(job, options.role),
      outbox: frames.take(job.apiId),
      causeUs: clock.toSimUs(job.causeUs),
      epoch: 0,
      state: 'beginning',
      handle: -1,
      emitted: 0,
      isIncoming: true,
      isScheduled: false,
      isEnding: false,
      firstTokenUs: 0,
      transferredTokens: 0,
      fetching: undefined,
      faultAfterTokens: Infinity,
      isSpared: false,
    };
  }

  private async begin(run: Run): Promise<void> {
    const { transport, options, engineId, stats } = this.context;
    const { requestId, submission, apiId } = run.job;
    const permit = await transport.ledger.begin({
      ...{ requestId, submission, apiId, engineId },
      stage: run.stage,
      maxRuns: options.maxRuns,
    });
    if (run.state === 'over') {
      if (permit.kind === 'run') this.sides.endings.excuse({ ...run, epoch: permit.epoch });
      return;
    }
    if (permit.kind !== 'run') {
      this.settle(run);
      await this.refuse(run, permit);
      return;
    }
    run.epoch = permit.epoch;
    run.state = 'running';
    stats.add('runs_started');
    const { jobFaults } = this.sides;
    if (run.job.faults !== undefined) await jobFaults.prepare(run);
    if (isOver(run)) return;
    this.context.guard(() => jobFaults.onPrefill(run, () => this.start(run, permit)));
  }

  private async refuse(run: Run, permit: Exclude<RunPermit, Permitted>): Promise<void> {
    const { jobs } = this.context.transport;
    if (permit.kind === 'exhausted') {
      run.epoch = permit.epoch;
      this.sides.endings.fail(run, 'attempts_exhausted');
      return;
    }
    run.state = 'moving-on';
    if (permit.why === 'handed-over') {
      const { decode, heldUs } = permit.handOver;
      const { queue, job } = routedTo('decode', { ...run.job, causeUs: heldUs }, decode);
      await jobs.add(queue, [job]);
    } else if (permit.why === 'returned') {
      const { queue, job } = routedTo('prefill', run.job, undefined);
      await jobs.add(queue, [{ ...job, submission: permit.submission }]);
    }
    if (run.state === 'moving-on') this.context.guard(() => this.sides.endings.handOn(run));
  }

  private start(run: Run, permit: Permitted): void {
    if (this.sides.executor !== undefined) {
      this.settle(run);
      this.sides.executor.start(run, permit.handOver);
      return;
    }
    switch (run.stage) {
      case 'prefill':
        return this.prefill(run);
      case 'aggregated':
        return this.enter(run, 'generate');
      case 'decode':
        return run.job.flow === 'attach' ? this.attach(run) : this.fetch(run, permit);
      default:
        return unreachable(run.stage);
    }
  }

  /** The beginning of a next turn's prompt may lie in decode: whole blocks of it are read from there, and the rest is computed. */
  private prefill(run: Run): void {
    const { job } = run;
    const { blockSize } = this.context.options.facts;
    const params = parseKeptKvParams(job.kvTransferParams);
    if (params === undefined) return this.enter(run, 'prefill-and-hold');
    const common = Math.min(params.remote_num_tokens, job.promptTokens);
    const tokens = common - (common % blockSize);
    const source = sourceOf(params);
    const claim = claimOnKept(job, params.remote_block_ids ?? [], { tokens, blockSize });
    if (claim === undefined) {
      this.sides.decode.decline(source);
      this.enter(run, 'prefill-and-hold');
      return;
    }
    const fetching = { ...newFetching(source, claim), claimedTokens: tokens };
    if (this.submit(run, 'prefill-and-hold', tokens)) this.sides.decode.accept(run, fetching);
    else this.sides.decode.reject(run, fetching);
  }

  /** Into the engine before the first step that starts at or after the job's cause. */
  private enter(run: Run, mode: SequenceSpec['mode']): void {
    this.context.loop.enter(run.causeUs, () => {
      if (run.state === 'running') this.submit(run, mode);
    });
  }

  private fetch(run: Run, { handOver }: Permitted): void {
    this.context.faults.reached('decode-begun');
    if (handOver === undefined) {
      this.sides.failed.onSourceGone(run);
      return;
    }
    const { params, generation, epoch } = handOver;
    if (generation === EXECUTED) {
      // Its prompt lies in a server that only another server can read.
      this.enter(run, 'generate');
      return;
    }
    const engineId = params.remote_engine_id ?? '';
    const source = { engineId, requestId: run.job.requestId, epoch, generation };
    this.reserve(run, newFetching(source));
  }

  /** Parameters that no source can have made are served without a transfer, as vLLM does. */
  private attach(run: Run): void {
    const { job } = run;
    const params = parseKvTransferParams(job.kvTransferParams);
    if (!params) {
      this.enter(run, 'generate');
      return;
    }
    const source = sourceOf(params);
    const blockIds = params.remote_block_ids ?? [];
    const claim = claimOn(job, blockIds, this.context.options.facts.blockSize);
    this.reserve(run, newFetching(source, claim));
  }

  /** In the engine at once, whatever it is doing: blocks come with its next step. */
  private reserve(run: Run, fetching: Fetching): void {
    if (this.submit(run, 'remote-prefill')) this.sides.decode.accept(run, fetching);
    else this.sides.decode.reject(run, fetching);
  }

  /** False when the engine can never run it, which ends the run. */
  private submit(run: Run, mode: SequenceSpec['mode'], remoteTokens?: number): boolean {
    const { engine, runs } = this.context;
    const { job } = run;
    this.context.kvEvents?.learn(job);
    this.settle(run);
    const admission = engine.submit({
      requestId: job.requestId,
      promptTokens: job.promptTokens,
      outputTokens: mode === 'prefill-and-hold' ? 1 : job.outputTokens,
      endReason: job.endReason,
      blockHashes: job.blockHashes,
      priority: job.priority,
      arrivalUs: this.context.clock.toSimUs(job.arrivalUs),
      mode,
      ...(remoteTokens === undefined ? {} : { remoteTokens }),
      ...(job.keepsKv ? { holdsAtEnd: true } : {}),
      ...(job.adapter === undefined ? {} : { adapter: adapterNumber(job.adapter) }),
      ...(job.engineParameters && { parameters: job.engineParameters }),
    });
    if (admission.kind === 'accepted') {
      runs.bind(run, admission.handle);
      return true;
    }
    const isTooLong = admission.why === 'exceeds-context';
    this.sides.endings.fail(run, isTooLong ? 'context_length_exceeded' : 'kv_capacity_exceeded');
    return false;
  }

  private loseLock(taken: TakenJob): void {
    const run = this.context.runs.get(taken.job.requestId);
    this.context.stats.add('locks_lost');
    if (run?.taken !== taken || run.state === 'moving-on') return;
    this.sides.endings.supersede(run);
  }
}

/** The engine knows adapters by number, and none as 0. */
function adapterNumber(name: string): number {
  return hashString(name) || 1;
}

/** Parameters from outside name no epoch. */
function sourceOf({ remote_engine_id, remote_request_id }: KvTransferParams): Fetching['source'] {
  const name = parseRemoteRequestId(remote_request_id ?? '');
  return {
    engineId: remote_engine_id ?? '',
    requestId: name?.requestId ?? remote_request_id ?? '',
    epoch: 0,
    generation: name?.generation ?? 0,
  };
}

function newFetching(source: Fetching['source'], claim?: number): Fetching {
  return {
    source,
    claim,
    claimedTokens: undefined,
    reservedUs: undefined,
    missingTokens: 0,
    hasInjectedFault: false,
    isDeclined: false,
    transferStartedUs: 0,
  };
}

/** On a shared queue the queue says it; on an engine's own queue the flow does, and for a routed job the role. */
function stageOf(job: EngineJob, role: Stage): Stage {
  switch (job.flow) {
    case 'route':
      return role;
    case 'hold':
      return 'prefill';
    case 'attach':
      return 'decode';
    case 'local':
      return 'aggregated';
    default:
      return unreachable(job.flow);
  }
}
