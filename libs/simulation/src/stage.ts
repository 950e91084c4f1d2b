import { Fifo, type Micros } from '@baton/kernel';
import type { KvPoolTerms } from '@baton/kvcache';
import {
  type AdmissionContext,
  type EngineRole,
  PoolEstimate,
  predictTtftUs,
  type PrefixDirectory,
  promptBlocks,
} from '@baton/policies';
import { prefillUs } from '@baton/step-time';
import { rowName, type Workload } from '@baton/workload';
import { EngineViews, type VirtualEngineView } from './engine-views';
import { TakingOrder } from './taking-order';
import { NONE, type Trips } from './trips';
import type { VirtualEngine } from './virtual-engine';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface StageParts {
  readonly role: EngineRole;
  readonly workload: Workload;
  /** The prefixes that each engine probably holds; kept up to date for policies only. */
  readonly prefixes: PrefixDirectory | undefined;
  /** The share of this stage's engines in the KV pool. Unset for engines outside of a pool. */
  readonly kvPool: KvPoolTerms | undefined;
  /** Time for which loads are cached before they are read again; unset: 0. */
  readonly metricsIntervalUs?: Micros | undefined;
  /** All engines of the cluster. */
  readonly cluster: readonly VirtualEngine[];
  readonly trips: Trips;
}

/** The age of a row, and the targets of its SLO class. */
export type RowPromise = Pick<AdmissionContext, 'ttftTargetUs'> & { readonly waitedUs: Micros };

/**
 * The engines of one role and the requests that wait for them. A request waits in the shared queue,
 * or in the queue of the engine that a policy chose. The oldest request of the shared queue goes to
 * the engine with room that has waited longest. An engine takes only requests for which it has
 * room.
 */
export class VirtualStage {
  /** The ready engines, in the order in which they joined. */
  readonly engines: VirtualEngine[] = [];
  private readonly shared = new Fifo<number>();
  private directed = 0;
  private readonly order = new TakingOrder<VirtualEngine>();
  private readonly views: EngineViews;
  private readonly context: Mutable<AdmissionContext>;

  constructor(private readonly parts: StageParts) {
    const { workload, role } = parts;
    const request = {
      promptTokens: 0,
      sessionKey: 0,
      blockFrom: 0,
      blockCount: 0,
      blockHashes: workload.contentIds,
    };
    const { prefixes } = parts;
    const views = new EngineViews(role, parts.metricsIntervalUs);
    this.views = views;
    this.context = {
      request,
      engines: views.all,
      stage: role,
      cachedTokens: ({ engineId }) => prefixes?.cachedTokens(engineId, request) ?? 0,
      prefillUs: (view, tokens, cached) => {
        const { options } = (view as VirtualEngineView).engine.pool;
        return prefillUs(options.stepTime, { tokens, cached }, options.maxNumBatchedTokens);
      },
      leastLoaded: (by) => views.leastLoaded(by),
      waitingRequests: 0,
      predictedTtftUs: () => predictTtftUs(this.context, this.sharedTokens),
    };
  }

  /** Requests that no engine has taken yet. */
  get waiting(): number {
    return this.shared.length + this.directed;
  }

  /** Prompt tokens of those in the shared queue. */
  sharedTokens = 0;

  add(engine: VirtualEngine): void {
    const { engineId } = engine;
    const { options } = engine.pool;
    this.engines.push(engine);
    this.order.add(engine);
    this.views.add(engine);
    this.parts.prefixes?.join(engineId, options.numBlocks * options.blockSize);
  }

  /**
   * Removes an engine: it takes no more requests. Returns the rows that waited for it; they must go
   * to others.
   */
  remove(engine: VirtualEngine): number[] {
    const at = this.engines.indexOf(engine);
    if (at < 0) return [];
    this.engines.splice(at, 1);
    this.order.remove(engine);
    this.views.remove(at);
    this.parts.prefixes?.leave(engine.engineId);
    const { directed } = engine;
    this.directed -= directed.length;
    return Array.from({ length: directed.length }, () => engine.takeDirected());
  }

  /**
   * Puts the row into the shared queue. Returns the engine with room that takes it at once;
   * undefined when it waits.
   */
  share(row: number, nowUs: Micros): VirtualEngine | undefined {
    this.shared.push(row);
    this.sharedTokens += this.parts.workload.promptTokens[row]!;
    if (this.shared.length > 1) return undefined;
    const engine = this.order.next(nowUs);
    if (engine !== undefined) this.takeShared(engine);
    return engine;
  }

  /**
   * Puts the row into the queue of one engine. It counts there as the tokens that are probably not
   * cached.
   */
  direct(row: number, engine: VirtualEngine): void {
    const { trips } = this.parts;
    if (trips.expectedAt(row) === engine.index) {
      this.forget(row);
      engine.direct(row, trips.uncached[row]!);
    } else {
      const tokens = this.noteSent(row, engine);
      engine.direct(row, tokens);
      this.views.sent(engine, tokens);
    }
    this.directed++;
  }

  /**
   * The row comes to this engine when another stage has computed its prompt. Until then its whole
   * prompt counts there, as in the router of a live API.
   */
  expect(row: number, engine: VirtualEngine): void {
    const { trips } = this.parts;
    this.forget(row);
    trips.expect(row, engine.index);
    trips.uncached[row] = this.noteSent(row, engine);
    this.countExpected(row, engine, 1);
    this.views.sent(engine, this.parts.workload.promptTokens[row]!);
  }

  /** The row, if it was expected, is so no longer. */
  forget(row: number): void {
    const { cluster, trips } = this.parts;
    const at = trips.expectedAt(row);
    if (at === NONE) return;
    trips.expect(row, NONE);
    this.countExpected(row, cluster[at]!, -1);
  }

  /** The policy's view of the stage for placing the row; one object, valid until the next call. */
  contextFor(row: number, nowUs: Micros): AdmissionContext {
    this.describeRequest(row);
    this.views.lookAt(nowUs);
    if (this.parts.kvPool !== undefined) this.context.pool = this.poolFor(this.parts.kvPool);
    return this.context;
  }

  /** Like `contextFor`, with the waiting requests, for an admission policy. */
  admissionFor(row: number, nowUs: Micros, promise?: RowPromise): AdmissionContext {
    this.context.waitingRequests = this.waiting;
    if (promise !== undefined) Object.assign(this.context, promise);
    return this.contextFor(row, nowUs);
  }

  /** The next row that the engine takes; NONE when nothing waits or it has no room. */
  next(engine: VirtualEngine, nowUs: Micros): number {
    const hasDirected = engine.directed.length > 0;
    if (!hasDirected && this.shared.length === 0) return NONE;
    if (!engine.isReady || !engine.hasRoom(nowUs)) return NONE;
    return hasDirected ? this.takeDirected(engine) : this.takeShared(engine);
  }

  private countExpected(row: number, { expected, ranked }: VirtualEngine, by: 1 | -1): void {
    expected.rows += by;
    expected.tokens += by * this.parts.workload.promptTokens[row]!;
    ranked?.markStale();
  }

  /** Records the prefix. Returns the prompt tokens that the engine probably had not cached. */
  private noteSent(row: number, { engineId }: VirtualEngine): number {
    const { prefixes } = this.parts;
    const { request } = this.context;
    this.describeRequest(row);
    const cached = prefixes?.cachedTokens(engineId, request) ?? 0;
    prefixes?.record(engineId, request);
    return request.promptTokens - cached;
  }

  private poolFor(terms: KvPoolTerms): PoolEstimate | undefined {
    const { prefixes, workload } = this.parts;
    const blockSize = workload.contentBlockTokens;
    return prefixes && new PoolEstimate(prefixes, this.context.request, { ...terms, blockSize });
  }

  private describeRequest(row: number): void {
    const { workload } = this.parts;
    const { promptTokens, contentStart, contentBlockTokens } = workload;
    const request = this.context.request as Mutable<AdmissionContext['request']>;
    request.promptTokens = promptTokens[row]!;
    request.sessionKey = workload.session.length === 0 ? 0 : workload.session[row]!;
    if (workload.adapter !== undefined) request.adapter = rowName(workload.adapter, row);
    request.blockFrom = contentStart[row]!;
    const listed = contentStart[row + 1]! - request.blockFrom;
    request.blockCount = promptBlocks(request.promptTokens, contentBlockTokens, listed);
  }

  private takeDirected(engine: VirtualEngine): number {
    this.directed--;
    const row = engine.takeDirected();
    engine.room.observe(this.parts.workload.promptTokens[row]!);
    return row;
  }

  private takeShared(engine: VirtualEngine): number {
    this.order.moveToEnd(engine);
    const row = this.shared.shift()!;
    const tokens = this.parts.workload.promptTokens[row]!;
    this.sharedTokens -= tokens;
    engine.room.observe(tokens);
    return row;
  }
}
