import { type Micros, Tournament } from '@baton/kernel';
import {
  type EngineAdapters,
  type EngineRole,
  type EngineView,
  type LoadMeasure,
  tokenLoad,
} from '@baton/policies';
import type { Ranked, VirtualEngine } from './virtual-engine';

/** One reading of the engines of a stage. */
interface Look {
  /** Time for which a measurement is valid, µs; 0: only in its reading. */
  readonly keepUs: Micros;
  nowUs: Micros;
  /** Rises with every reading, so that each engine is measured once per reading. */
  number: number;
}

/** A policy's view of one engine; it is measured only when the policy reads it. */
export class VirtualEngineView implements EngineView, Ranked {
  isOutdated = false;
  /** Number of the engine in the first ranking. */
  place = 0;
  private measuredIn = 0;
  private measuredUs = -Infinity;
  private count = 0;
  private running = 0;
  private tokens = 0;
  private usage = 0;
  private seenAdapters: EngineAdapters | undefined;

  constructor(
    readonly engine: VirtualEngine,
    private readonly look: Look,
    /** Views whose loads have changed since they were ranked. */
    private readonly outdated: VirtualEngineView[],
  ) {}

  get engineId(): string {
    return this.engine.engineId;
  }

  get requests(): number {
    if (this.look.keepUs === 0) return requestsOf(this.engine);
    this.measure();
    return this.count;
  }

  get waitingRequests(): number {
    this.measure();
    return this.requests - this.running;
  }

  /** Counts a request sent to the engine, also when the measurement is older. */
  sent(promptTokens: number): void {
    if (this.look.keepUs === 0) return;
    this.count += 1;
    this.tokens += promptTokens;
  }

  get waitingTokens(): number {
    this.measure();
    return this.tokens;
  }

  get kvTokens(): number {
    const { numBlocks, blockSize } = this.engine.pool.options;
    return this.kvUsage * numBlocks * blockSize;
  }

  get kvUsage(): number {
    this.measure();
    return this.usage;
  }

  get adapters(): EngineAdapters | undefined {
    if (this.look.keepUs === 0) return this.engine.adapters?.view;
    this.measure();
    return this.seenAdapters;
  }

  markStale(): void {
    if (this.isOutdated) return;
    this.isOutdated = true;
    this.outdated.push(this);
  }

  private measure(): void {
    const { engine, look } = this;
    if (this.measuredIn === look.number) return;
    if (look.keepUs > 0 && look.nowUs - this.measuredUs < look.keepUs) return;
    this.measuredIn = look.number;
    this.measuredUs = look.nowUs;
    this.count = requestsOf(engine);
    engine.bringTo(look.nowUs);
    const { running, waitingTokens, kvUsage } = engine.engine.gauges();
    this.running = running;
    this.tokens = waitingTokens + engine.directedTokens + engine.expected.tokens;
    this.usage = kvUsage;
    if (look.keepUs > 0) this.seenAdapters = engine.adapters?.view;
  }
}

/** Inside, in its queue, and on their way to it. */
function requestsOf({ load, directed, expected }: VirtualEngine): number {
  return load + directed.length + expected.rows;
}

/**
 * The policies' view of the engines of a stage, in the order in which they joined. The first use of
 * a measure ranks all engines by it. Later choices cost log2(engines) for each engine that has
 * changed since the last choice.
 */
export class EngineViews {
  readonly all: VirtualEngineView[] = [];
  private readonly look: Look;
  private readonly rankings = new Map<LoadMeasure, Tournament>();
  private readonly outdated: VirtualEngineView[] = [];

  constructor(
    private readonly role: EngineRole,
    keepUs: Micros = 0,
  ) {
    this.look = { keepUs, nowUs: 0, number: 0 };
  }

  /** A policy sends a request to the engine. */
  sent(engine: VirtualEngine, promptTokens: number): void {
    if (this.look.keepUs === 0) return;
    this.all.find((view) => view.engine === engine)?.sent(promptTokens);
  }

  add(engine: VirtualEngine): void {
    this.all.push(new VirtualEngineView(engine, this.look, this.outdated));
    this.rankings.clear();
  }

  remove(at: number): void {
    const [gone] = this.all.splice(at, 1);
    gone!.engine.ranked = undefined;
    this.rankings.clear();
  }

  /** Sets the instant of the views; they are valid until something changes. */
  lookAt(nowUs: Micros): void {
    this.look.nowUs = nowUs;
    this.look.number++;
  }

  /** See `PlacementContext.leastLoaded`. Cached loads are not ranked. */
  leastLoaded(by: LoadMeasure): number | undefined {
    // On engines that generate, the KV in use grows with every step.
    if (this.look.keepUs > 0) return undefined;
    if (by === 'tokens' && this.role !== 'prefill') return undefined;
    const ranking = this.rankings.get(by) ?? this.beginRanking(by);
    for (let view = this.outdated.pop(); view !== undefined; view = this.outdated.pop()) {
      this.rank(view);
    }
    return ranking.first;
  }

  private beginRanking(by: LoadMeasure): Tournament {
    const ranking = new Tournament(this.all.length);
    this.rankings.set(by, ranking);
    for (const [place, view] of this.all.entries()) {
      view.place = place;
      view.engine.ranked = view;
      view.markStale();
    }
    return ranking;
  }

  private rank(view: VirtualEngineView): void {
    view.isOutdated = false;
    // The engine may have left since.
    if (view.engine.ranked !== view) return;
    const { place, requests } = view;
    this.rankings.get('requests')?.set(place, requests);
    this.rankings.get('tokens')?.set(place, tokenLoad(view, this.role), requests);
  }
}
