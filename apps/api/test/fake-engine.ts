import {
  emptyFrameEntry,
  type EngineJob,
  type EngineMessage,
  type EnginePresence,
  type EngineReport,
  type Epoch,
  type FrameEntry,
  FrameWriter,
  type Stage,
} from '@baton/contract';
import { engineName } from '@baton/kernel';
import { attachInProcess, channels, type InProcessHub, type TakenJob } from '@baton/transport';

export interface FakeEngineOptions {
  readonly stage?: Stage;
  readonly engineId?: string;
  readonly index?: number;
  readonly numBlocks?: number;
  /** When true, runs every job to its end by itself. */
  readonly isEager?: boolean;
  /** Takes jobs only while this returns true. */
  readonly takes?: () => boolean;
}

const now = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);

/**
 * An engine under a test's control: takes jobs, and publishes the frames that the test asks for.
 */
export class FakeEngine {
  readonly runs: FakeRun[] = [];
  readonly messages: EngineMessage[] = [];
  readonly abortedIds: string[] = [];
  private readonly waiters: ((run: FakeRun) => void)[] = [];
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly transport: ReturnType<typeof attachInProcess>,
    public presence: EnginePresence,
  ) {
    this.timer = setInterval(() => void this.announce(), 500);
  }

  static async start(hub: InProcessHub, options: FakeEngineOptions = {}): Promise<FakeEngine> {
    const transport = attachInProcess(hub);
    const stage = options.stage ?? 'aggregated';
    const engine = new FakeEngine(transport, presenceOf(stage, options));
    await engine.announce();
    const onMessage = (payload: Buffer): void => {
      const message = JSON.parse(payload.toString()) as EngineMessage;
      if (message.kind === 'tell-metrics') engine.report(message.replyTo);
      else engine.messages.push(message);
    };
    await transport.bus.subscribe(channels.engine(engine.presence.engineId), onMessage);
    await transport.bus.subscribe(channels.aborts, (payload) => {
      const { requestIds } = JSON.parse(payload.toString()) as { requestIds: string[] };
      engine.abortedIds.push(...requestIds);
    });
    for (const queue of [stage, `engine:${engine.presence.engineId}`] as const) {
      transport.jobs.consume(queue, {
        room: () => ((options.takes?.() ?? true) ? 1_000 : 0),
        onJob: (taken) => void engine.begin(taken, options.isEager ?? false),
        onLockLost: () => undefined,
      });
    }
    return engine;
  }

  /** The next job that no earlier call has returned. */
  next(): Promise<FakeRun> {
    const run = this.runs.find((each) => !each.isClaimed);
    if (run) {
      run.isClaimed = true;
      return Promise.resolve(run);
    }
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  announce(): Promise<void> {
    const { presence } = this.transport;
    return presence.announceEngine(this.presence, 3_000).then(
      () => undefined,
      () => undefined,
    );
  }

  private report(replyTo: string): void {
    const report: EngineReport = { presence: this.presence, page: '' };
    this.transport.bus.publish(replyTo, Buffer.from(JSON.stringify(report)));
  }

  /** Takes no more jobs, and announces that. */
  drain(): Promise<void> {
    this.presence = { ...this.presence, state: 'draining' };
    return this.announce();
  }

  /** Lets its presence expire, as for a late engine; `announce` restores it. */
  async fallSilent(): Promise<void> {
    clearInterval(this.timer);
    await this.transport.presence.removeEngine(this.presence.engineId);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.transport.presence.removeEngine(this.presence.engineId).catch(() => undefined);
    await this.transport.close();
  }

  private async begin(taken: TakenJob, isEager: boolean): Promise<void> {
    const { engineId, stage } = this.presence;
    const permit = await this.transport.ledger.begin({
      requestId: taken.job.requestId,
      submission: taken.job.submission,
      apiId: taken.job.apiId,
      stage,
      engineId,
      maxRuns: 100,
    });
    if (permit.kind !== 'run') {
      await taken.done();
      return;
    }
    const run = new FakeRun(this.transport, this.presence, taken, permit.epoch);
    this.runs.push(run);
    const waiter = this.waiters.shift();
    if (waiter) {
      run.isClaimed = true;
      waiter(run);
    }
    if (isEager) await run.play();
  }
}

/** One run of one job; a test sets token by token what it publishes. */
export class FakeRun {
  isClaimed = false;

  constructor(
    private readonly transport: ReturnType<typeof attachInProcess>,
    private readonly presence: EnginePresence,
    private readonly taken: TakenJob,
    readonly epoch: Epoch,
  ) {}

  get job(): EngineJob {
    return this.taken.job;
  }

  /** The frame of one step with one entry. */
  frame(part: Partial<FrameEntry>): Buffer {
    const writer = new FrameWriter(this.presence.engineId, this.presence.stage);
    writer.add({
      ...emptyFrameEntry(),
      streamId: this.job.streamId,
      epoch: this.epoch,
      ...part,
    });
    return writer.take(now());
  }

  send(part: Partial<FrameEntry>): void {
    this.publish(this.frame(part));
  }

  publish(frame: Buffer): void {
    this.transport.bus.publish(channels.api(this.job.apiId), frame);
  }

  token(index: number, count = 1): void {
    this.send({ kind: 'tokens', first: index, count });
  }

  /** The end as the job defines it, with the last token. */
  endSequence(part: Partial<FrameEntry> = {}): void {
    const { outputTokens, endReason } = this.job;
    this.send({ kind: 'end', reason: endReason, first: outputTokens, count: 1, ...part });
  }

  /** Every frame of the whole sequence, unsent. */
  allFrames(): Buffer[] {
    const { outputTokens, endReason } = this.job;
    const last = outputTokens - 1;
    return [
      this.frame({ kind: 'scheduled' }),
      ...Array.from({ length: last }, (_, first) => this.frame({ first, count: 1 })),
      this.frame({ kind: 'end', reason: endReason, first: outputTokens, count: 1 }),
    ];
  }

  async play(): Promise<void> {
    for (const frame of this.allFrames()) this.publish(frame);
    await this.finishJob();
  }

  /** Stores the result and removes the job, as an engine does with the last frame. */
  async finishJob(): Promise<void> {
    const { requestId, outputTokens, endReason } = this.job;
    await this.transport.ledger.finishRequest(requestId, this.epoch, {
      reason: endReason,
      tokens: outputTokens,
    });
    await this.taken.done();
  }
}

function presenceOf(stage: Stage, options: FakeEngineOptions): EnginePresence {
  return {
    engineId: options.engineId ?? `fake-${stage}`,
    stage,
    index: options.index ?? 0,
    name: engineName(stage, options.index ?? 0),
    pid: process.pid,
    host: 'localhost',
    model: 'llama-3.1-8b',
    state: 'ready',
    gauges: {
      running: 0,
      waitingCapacity: 0,
      waitingDeferred: 0,
      kvUsage: 0,
      heldBlocks: 0,
      numBlocks: options.numBlocks ?? 10_000,
      clockLagMs: 0,
      stepMs: 0,
    },
    counters: {},
    histograms: {},
  };
}
