import type { Alarm, WallClock } from '@baton/clock';
import {
  admissionSpec,
  type BatonConfig,
  engineSetup,
  type EngineSetup,
  LiveSettings,
  mostAdapters,
  placerSpec,
} from '@baton/config';
import type { EngineJob, EngineLoad, Stage } from '@baton/contract';
import { type Micros, RandomStream, secondsToUs } from '@baton/kernel';
import {
  type AdmissionContext,
  type ArrivalChoice,
  type PlacementContext,
  type PlacementRequest,
  Placer,
  type PlacerSpec,
  type PolicyWatch,
  PoolEstimate,
  predictTtftUs,
  PrefixDirectory,
  promptBlocks,
  SHARED_QUEUE,
} from '@baton/policies';
import { prefillUs } from '@baton/step-time';
import type { Logger } from '@baton/telemetry';
import { channels, jsonListener, type Transport, type Unsubscribe } from '@baton/transport';
import { EngineBoard } from './engine-board';
import {
  engineQueue,
  entryQueue,
  type JobRouting,
  type PromptFacts,
  type RoutedJob,
  sharedQueue,
  SharedQueues,
  type UnavailableEngine,
} from './job-routing';

const TICK_US = 250_000;
/**
 * A tick this late means that this process was paused, so missing messages do not mean that engines
 * are silent. A shorter pause and the interval of two loads are less than the silence that counts.
 */
const AWAY_US = secondsToUs(0.4);
/** Weight of a new prompt in the mean prompt length: about the last 64 prompts count. */
const MEAN_WEIGHT = 1 / 64;

export interface PolicyRoutingOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  /** Unique per process. */
  readonly routerId: string;
  /** Names the random stream: a policy's draws depend on seed and role. */
  readonly role: 'api' | Stage;
  readonly wall: WallClock;
  readonly log: Logger;
  /** Calls a user's own policy, and notes when it makes no choice. */
  readonly policyWatch: PolicyWatch;
}

/**
 * Whether loads of engines are needed: by a policy, by one that may be selected later, or by the
 * prediction for admission.
 */
export function needsLoads(config: BatonConfig): boolean {
  if (config.enableAdmin) return true;
  const spec = placerSpec(config);
  const isPull = spec.prefill === 'pull' && spec.decode === 'pull';
  return !isPull || config.disaggregationThreshold > 0 || admissionSpec(config) !== undefined;
}

/** The routing of a configuration. */
export function buildRouting(options: PolicyRoutingOptions): JobRouting {
  return needsLoads(options.config) ? new PolicyRouting(options) : new SharedQueues();
}

/**
 * The router of one process. It follows the loads of all engines, calls the placer, and returns the
 * queue. Without an engine to choose it returns the stage's shared queue, from which every engine
 * of the stage takes jobs, so no job waits for a load.
 */
export class PolicyRouting implements JobRouting {
  private placer: Placer;
  private spec: PlacerSpec;
  private readonly settings: LiveSettings;
  private readonly board: EngineBoard;
  private readonly prefixes: PrefixDirectory;
  private readonly setups = new Map<Stage, EngineSetup>();
  private isPull: Readonly<Record<Stage, boolean>>;
  private meanPromptTokens = 0;
  private alarm: Alarm | undefined;
  /** Instant of the next tick. */
  private dueUs = Infinity;
  private unsubscribe: Unsubscribe | undefined;

  constructor(private readonly options: PolicyRoutingOptions) {
    const { config, transport, routerId, wall } = options;
    const { blockSize } = config;
    this.settings = new LiveSettings({ config, transport, nowUs: () => wall.nowUs() });
    this.spec = placerSpec(config);
    this.placer = this.newPlacer();
    this.isPull = pulledStages(this.spec);
    this.prefixes = new PrefixDirectory(blockSize);
    this.board = new EngineBoard({
      routerId,
      blockSize,
      maxAdapters: mostAdapters(config),
      keepUs: (this.spec.metricsIntervalUs ?? 0) / config.speedup,
      presenceUs: secondsToUs(config.presenceTtl),
      onJoin: (engineId, kvTokens) => this.prefixes.join(engineId, kvTokens),
      onLeave: (engineId) => this.prefixes.leave(engineId),
    });
  }

  async start(): Promise<void> {
    const { transport, wall, log } = this.options;
    this.board.listenAfresh(wall.nowUs());
    transport.onConnection((event) => {
      if (event !== 'lost') this.board.listenAfresh(wall.nowUs());
    });
    this.unsubscribe = await transport.bus.subscribe(
      channels.loads,
      jsonListener<EngineLoad>(log, (load) => this.board.onLoad(load, wall.nowUs())),
    );
    this.tick();
    this.settings.follow(({ config }) => this.place(placerSpec(config)));
    await this.settings.start();
  }

  /** Jobs that are already placed stay in their queue. */
  private place(spec: PlacerSpec): void {
    if (JSON.stringify(spec) === JSON.stringify(this.spec)) return;
    this.spec = spec;
    this.placer = this.newPlacer();
    this.isPull = pulledStages(spec);
  }

  private newPlacer(): Placer {
    const { config, role, policyWatch } = this.options;
    // An API draws what the virtual clock draws. The policies of workers place other requests.
    const name = role === 'api' ? 'placement' : `placement ${role}`;
    const random = RandomStream.root(config.seed).stream(name);
    return new Placer(this.spec, random, policyWatch);
  }

  async stop(): Promise<void> {
    this.alarm?.cancel();
    await this.settings.stop();
    await this.unsubscribe?.();
  }

  atArrival(job: EngineJob): RoutedJob {
    if (job.engineId !== undefined) return { queue: entryQueue(job), job };
    switch (job.flow) {
      case 'route':
        return this.split(job);
      case 'hold':
        return this.again('prefill', job);
      case 'attach':
        return this.again('decode', job);
      case 'local':
        return this.again('aggregated', job);
    }
  }

  /** The engine chosen at arrival if it still takes work, else one chosen now. */
  atHandoff(job: EngineJob): RoutedJob {
    const { decodeEngineId } = job;
    const isThere =
      decodeEngineId !== undefined && this.board.isReady(decodeEngineId, this.nowUs());
    return isThere ? this.send(job, 'decode', decodeEngineId) : this.again('decode', job);
  }

  again(stage: Stage, job: EngineJob): RoutedJob {
    const context = this.contextOf(stage, job);
    if (context.engines.length === 0) return this.send(job, stage, undefined);
    return this.send(job, stage, engineAt(context, this.chooseIn(stage, context)));
  }

  expect(engineId: string, promptTokens: number, hasArrived: () => boolean): void {
    this.board.expect(engineId, { tokens: promptTokens, hasArrived });
  }

  unavailableEngines(): readonly UnavailableEngine[] {
    return this.board.unavailableRows(this.nowUs());
  }

  observeForAdmission(
    stage: Stage,
    job: PromptFacts,
    waitingRequests: number,
  ): AdmissionContext | undefined {
    const context = this.contextOf(stage, job);
    this.meanPromptTokens ||= job.promptTokens;
    this.meanPromptTokens += (job.promptTokens - this.meanPromptTokens) * MEAN_WEIGHT;
    if (context.engines.length === 0) return undefined;
    const known = context.engines.reduce((sum, engine) => sum + engine.waitingTokens, 0);
    // With a policy every prompt waits in the queue of an engine, and `known` has counted it.
    const queued = this.isPull[stage] ? waitingRequests * this.meanPromptTokens : 0;
    const sharedTokens = Math.max(0, queued - known);
    const predictedTtftUs = (): Micros => predictTtftUs(context, sharedTokens);
    return { ...context, waitingRequests, predictedTtftUs };
  }

  private tick(): void {
    const nowUs = this.nowUs();
    this.board.forgetOld(nowUs);
    this.dueUs = nowUs + TICK_US;
    this.alarm = this.options.wall.around(this.dueUs, () => this.tick());
  }

  /** Notes a pause of this process too: after one, other timers than the tick can ring first. */
  private nowUs(): number {
    const nowUs = this.options.wall.nowUs();
    if (nowUs - this.dueUs > AWAY_US) this.board.listenAfresh(nowUs);
    return nowUs;
  }

  private split(job: EngineJob): RoutedJob {
    const prefill = this.contextOf('prefill', job);
    const decode = this.contextOf('decode', job);
    const isKnown = (context: PlacementContext): boolean =>
      this.isPull[context.stage] || context.engines.length > 0;
    if (!isKnown(prefill) || !isKnown(decode)) return this.again('prefill', job);
    return this.follow(job, this.placer.atArrival(prefill, decode), { prefill, decode });
  }

  private follow(
    job: EngineJob,
    choice: ArrivalChoice,
    { prefill, decode }: Record<'prefill' | 'decode', PlacementContext>,
  ): RoutedJob {
    const decodeEngineId = engineAt(decode, choice.decode);
    if (choice.kind === 'local') {
      const local = { ...job, flow: 'local' as const };
      return this.send(local, 'decode', decodeEngineId);
    }
    if (decodeEngineId === undefined) {
      return this.send(job, 'prefill', engineAt(prefill, choice.prefill));
    }
    this.prefixes.record(decodeEngineId, decode.request);
    const early = { ...job, decodeEngineId };
    return this.send(early, 'prefill', engineAt(prefill, choice.prefill));
  }

  private chooseIn(stage: Stage, context: PlacementContext): number {
    if (stage === 'decode') return this.placer.atHandoff(context);
    return stage === 'prefill' ? this.placer.onPrefill(context) : this.placer.onAggregated(context);
  }

  /** Undefined engine: the shared queue. */
  private send(job: EngineJob, stage: Stage, engineId: string | undefined): RoutedJob {
    if (engineId === undefined) {
      const queue = sharedQueue(stage, job.dataParallelRank);
      return { queue, job: { ...job, placed: { stage } } };
    }
    const queue = engineQueue(engineId);
    const { routerId, wall } = this.options;
    const request = this.requestOf(job);
    const cached = this.prefixes.cachedTokens(engineId, request);
    const ordinal = this.board.sent(engineId, job.promptTokens - cached, wall.nowUs());
    this.prefixes.record(engineId, request);
    return { queue, job: { ...job, placed: { stage, own: { engineId, routerId, ordinal } } } };
  }

  private contextOf(stage: Stage, job: PromptFacts): PlacementContext {
    const request = this.requestOf(job);
    const { kvPool } = this.options.config;
    return {
      ...(kvPool === 'none' ? {} : { pool: this.poolFor(stage, request) }),
      stage,
      request,
      engines: this.board.ready(stage, this.nowUs(), job.dataParallelRank),
      cachedTokens: ({ engineId }) => this.prefixes.cachedTokens(engineId, request),
      prefillUs: (_engine, tokens, cached) => {
        const { stepTime, maxNumBatchedTokens } = this.setupOf(stage).options;
        return prefillUs(stepTime, { tokens, cached }, maxNumBatchedTokens);
      },
    };
  }

  private poolFor(stage: Stage, request: PlacementRequest): PoolEstimate | undefined {
    const { kvPool, options } = this.setupOf(stage);
    const { blockSize } = options;
    return kvPool && new PoolEstimate(this.prefixes, request, { ...kvPool, blockSize });
  }

  /**
   * Built on first use, because a cluster may have no engines of a stage, or no valid configuration
   * for them.
   */
  private setupOf(stage: Stage): EngineSetup {
    const known = this.setups.get(stage) ?? engineSetup(this.options.config, stage);
    this.setups.set(stage, known);
    return known;
  }

  private requestOf({
    promptTokens,
    blockHashes,
    sessionKey,
    adapter,
  }: PromptFacts): PlacementRequest {
    return {
      promptTokens,
      sessionKey: sessionKey ?? 0,
      ...(adapter === undefined ? {} : { adapter }),
      blockHashes,
      blockFrom: 0,
      blockCount: promptBlocks(promptTokens, this.options.config.blockSize, blockHashes.length),
    };
  }
}

function pulledStages(spec: PlacerSpec): Readonly<Record<Stage, boolean>> {
  const isPullPrefill = spec.prefill === 'pull';
  return { prefill: isPullPrefill, decode: spec.decode === 'pull', aggregated: isPullPrefill };
}

function engineAt({ engines }: PlacementContext, choice: number): string | undefined {
  return choice === SHARED_QUEUE ? undefined : engines[choice]?.engineId;
}
