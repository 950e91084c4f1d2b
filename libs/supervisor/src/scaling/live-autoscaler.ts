import {
  type Autoscaler,
  type ClusterSample,
  engineOfRanks,
  type EngineSample,
  type RankSample,
  type RequestTotals,
  type EngineRole,
  parseTopology,
} from '@baton/policies';
import type { WallClock } from '@baton/clock';
import { type BatonConfig, startupSeconds } from '@baton/config';
import { type Micros, reasonOf, ROLE_LETTERS, secondsToUs } from '@baton/kernel';
import {
  carryOut,
  type EngineChange,
  type LiveMembership,
  type MemberEngine,
  WallPace,
} from '@baton/engine-host';
import type { ScrapedPage } from './scrape';

export interface LiveAutoscalerOptions {
  readonly config: BatonConfig;
  readonly autoscaler: Autoscaler;
  /** Simulated µs. */
  readonly intervalUs: Micros;
  readonly membership: LiveMembership;
  /** Reads the metrics of the cluster. */
  readonly scrape: () => Promise<ScrapedPage>;
  /** Reports each change in one sentence. */
  readonly say: (sentence: string) => void;
  /** Default: the machine's clock. */
  readonly wall?: WallClock;
}

/** Wall time, beyond its loading, within which an ordered engine must appear. */
const SHOWN_WITHIN_US = secondsToUs(60);

/** An ordered engine that has not appeared yet. */
interface Ordered {
  readonly role: EngineRole;
  readonly untilUs: number;
}

/**
 * Carries out an autoscaler's decisions on a live cluster, at equal intervals from when its first
 * engines are ready. Each decision uses one scrape of `/metrics` and the engines' presences;
 * without a scrape there is no decision. A failed change is reported, and the next decision
 * follows.
 */
export class LiveAutoscaler {
  private readonly pace: WallPace;
  private startUs = 0;
  private ordered: Ordered[] = [];
  /** Engines that have appeared. */
  private known = new Set<string>();
  /** By engine that changes its role: the new one. */
  private readonly becoming = new Map<string, EngineRole>();

  constructor(private readonly options: LiveAutoscalerOptions) {
    this.pace = new WallPace(options.wall);
  }

  /** Never resolves; `stop` ends it. */
  async run(): Promise<void> {
    const { config, membership, intervalUs } = this.options;
    await this.pace.untilComplete(parseTopology(config.topology), membership);
    this.startUs = this.pace.nowUs();
    for (let tick = 1; ;) {
      await this.pace.sleepUntil(this.startUs + (tick * intervalUs) / config.speedup);
      await this.decide().catch((error: unknown) => {
        this.options.say(`autoscaler: no decision: ${reasonOf(error)}`);
      });
      // A decision that takes longer than an interval skips the decisions in between.
      tick = Math.max(tick + 1, Math.ceil(this.nowUs() / intervalUs));
    }
  }

  stop(): void {
    this.pace.stop();
  }

  /** Simulated µs since the start. */
  private nowUs(): Micros {
    return Math.round((this.pace.nowUs() - this.startUs) * this.options.config.speedup);
  }

  private async decide(): Promise<void> {
    const { autoscaler, membership, scrape } = this.options;
    const nowUs = this.nowUs();
    const [page, engines] = await Promise.all([scrape(), membership.engines()]);
    if (this.pace.isStopped) return;
    for (const change of autoscaler.decide(this.sampleOf(page, engines, nowUs))) {
      await this.carryOut(change);
    }
  }

  private async carryOut(change: EngineChange): Promise<void> {
    const name = nameOf(change);
    try {
      const left = await carryOut(change, this.options.membership);
      if (change.kind === 'join') this.order(change.role, change.count);
      if (change.kind === 'become') {
        for (const { engineId } of left) this.becoming.set(engineId, change.to);
      }
      this.options.say(`autoscaler: ${name}`);
    } catch (error) {
      this.options.say(`autoscaler: ${name} was not carried out: ${reasonOf(error)}`);
    }
  }

  private order(role: EngineRole, count: number): void {
    const { config } = this.options;
    const startupUs = secondsToUs(startupSeconds(config)) / config.speedup;
    const untilUs = this.pace.nowUs() + startupUs + SHOWN_WITHIN_US;
    for (let i = 0; i < count; i += 1) this.ordered.push({ role, untilUs });
  }

  private sampleOf(
    { queued, totals }: ScrapedPage,
    engines: readonly MemberEngine[],
    atUs: Micros,
  ): ClusterSample {
    this.takeNote(engines);
    const shown = engines.map((engine) => this.engineSample(engine));
    const ordered = this.ordered.map(({ role }, i) => loading(`ordered-${i}`, role));
    const { speedup } = this.options.config;
    return {
      atUs,
      engines: [...shown, ...ordered],
      queued,
      totals: simulated(totals, speedup),
    };
  }

  /** Removes orders whose engines have appeared or are overdue. */
  private takeNote(engines: readonly MemberEngine[]): void {
    const isFirst = this.known.size === 0;
    for (const { engineId, role } of engines) {
      if (isFirst || this.known.has(engineId)) continue;
      const at = this.ordered.findIndex((order) => order.role === role);
      if (at >= 0) this.ordered.splice(at, 1);
    }
    this.known = new Set(engines.map(({ engineId }) => engineId));
    const wallUs = this.pace.nowUs();
    this.ordered = this.ordered.filter(({ untilUs }) => untilUs > wallUs);
    for (const [engineId, role] of [...this.becoming]) {
      if (this.known.has(engineId)) continue;
      this.becoming.delete(engineId);
      // The process of the old engine starts the new one, which can still be missing from the
      // board.
      if (!this.hasNew(engines, role)) this.order(role, 1);
    }
  }

  private hasNew(engines: readonly MemberEngine[], role: EngineRole): boolean {
    return engines.some((engine) => engine.role === role && engine.state === 'starting');
  }

  private engineSample({ engineId, role, state, ranks }: MemberEngine): EngineSample {
    const next = state === 'draining' ? this.becoming.get(engineId) : undefined;
    if (next !== undefined) return { ...loading(engineId, next), formerRole: role };
    return { engineId, role, ...engineOfRanks(ranks.map(rankSample)) };
  }
}

function rankSample({ state, gauges }: MemberEngine['ranks'][number]): RankSample {
  const { running, waitingCapacity, waitingDeferred, kvUsage } = gauges;
  return { state, running, waiting: waitingCapacity + waitingDeferred, kvUsage };
}

function loading(engineId: string, role: EngineRole): EngineSample {
  return { engineId, role, state: 'starting', running: 0, waiting: 0, kvUsage: 0 };
}

/** Latencies of a cluster that runs faster are shorter on the wall clock. */
function simulated(totals: RequestTotals, speedup: number): RequestTotals {
  const scaled = ({ sumSeconds, count }: RequestTotals['ttft']): RequestTotals['ttft'] => {
    return { sumSeconds: sumSeconds * speedup, count };
  };
  return {
    ...totals,
    ttft: scaled(totals.ttft),
    itl: scaled(totals.itl),
    e2el: scaled(totals.e2el),
  };
}

function nameOf(change: EngineChange): string {
  const engines = `${change.count}${ROLE_LETTERS[change.role]}`;
  if (change.kind === 'become') return `${engines}>${ROLE_LETTERS[change.to]}`;
  return `${change.kind === 'join' ? '+' : '-'}${engines}`;
}
