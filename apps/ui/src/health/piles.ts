import type { PictureEngine } from '@baton/contract';
import type { ClusterModel } from '../cluster-model';

export const PILES = ['prefill', 'link', 'decode', 'aggregated'] as const;
export type PileName = (typeof PILES)[number];

/** Requests that wait for one resource of the cluster. */
export interface Pile {
  readonly name: PileName;
  readonly requests: number;
  readonly engines: number;
}

/** Time constant of a pile, in ms. A burst of one second is no bottleneck. */
const SMOOTH_MS = 1_500;
/**
 * Waiting requests per engine, and their share of all requests in flight, from which a pile is a
 * bottleneck.
 */
const LEAST_PER_ENGINE = 2;
const LEAST_SHARE = 0.1;
/** Share of these bounds below which a pile is no longer a bottleneck. */
const STAYS_ABOVE = 0.5;
/** Share of held KV from which prefill engines wait for decode engines to fetch. */
const BLOCKED_BY_HELD = 0.5;

/** The number of requests that wait for each resource, smoothed over time. */
export class Piles {
  private readonly smooth = new Map<PileName, number>();
  private readonly counting = new Set<PileName>();
  private atMs = 0;

  /** @returns the pile of the bottleneck; undefined: no resource is short */
  observe(model: ClusterModel): Pile | undefined {
    const share = 1 - Math.exp(-Math.max(0, model.atMs - this.atMs) / SMOOTH_MS);
    this.atMs = model.atMs;
    const piles = PILES.map((name) => this.smoothPile(name, model, share));
    const counting = piles.filter((pile) => this.counts(pile, model.inFlight));
    const largest = [...counting].sort((a, b) => b.requests - a.requests)[0];
    // With many held blocks, prefill waits for the next stage.
    return areBlocked(model.engines) ? (counting.at(-1) ?? largest) : largest;
  }

  clear(): void {
    this.smooth.clear();
    this.counting.clear();
    this.atMs = 0;
  }

  private smoothPile(name: PileName, model: ClusterModel, share: number): Pile {
    const role = name === 'link' ? 'decode' : name;
    const engines = model.engines.filter((engine) => engine.role === role);
    const now = engines.reduce((sum, engine) => sum + waitingOf(engine, name), 0);
    const queued = name === 'link' ? 0 : (model.waiting?.[name] ?? 0);
    const before = this.smooth.get(name) ?? 0;
    const requests = before + (now + queued - before) * share;
    this.smooth.set(name, requests);
    return { name, requests, engines: engines.length };
  }

  private counts({ name, requests, engines }: Pile, inFlight: number): boolean {
    const bound = Math.max(LEAST_PER_ENGINE * engines, LEAST_SHARE * inFlight);
    const isOver = requests >= bound * (this.counting.has(name) ? STAYS_ABOVE : 1);
    const does = engines > 0 && isOver;
    if (does) this.counting.add(name);
    else this.counting.delete(name);
    return does;
  }
}

/**
 * Waiting requests of a pile. A sequence whose KV is being fetched waits for the link, any other
 * for the engine.
 */
function waitingOf({ waiting, fetching }: PictureEngine, name: PileName): number {
  return name === 'link' ? fetching : waiting - fetching;
}

function areBlocked(engines: readonly PictureEngine[]): boolean {
  const prefill = engines.filter(({ role }) => role === 'prefill');
  const sum = (value: (engine: PictureEngine) => number): number =>
    prefill.reduce((total, engine) => total + value(engine), 0);
  return sum(({ heldBlocks }) => heldBlocks) > BLOCKED_BY_HELD * sum(({ numBlocks }) => numBlocks);
}
