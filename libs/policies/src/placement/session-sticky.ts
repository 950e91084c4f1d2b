import { HashRing } from './hash-ring';
import { LeastRequests } from './least-loaded';
import type { PlacementContext, Policy } from './policy';

export interface SessionStickySpec {
  readonly kind: 'session-sticky';
  /**
   * Points of each engine on the ring, >= 1, default 128: the shares of the engines then differ by
   * about 10 %.
   */
  readonly virtualNodes?: number | undefined;
  /**
   * An engine takes at most this many times the mean number of requests; beyond it the next one on
   * the ring does. > 1, default 1.25; Infinity = no limit.
   */
  readonly loadFactor?: number | undefined;
}

/**
 * Number of requests up to which an engine always keeps a session; below it the limit would depend
 * on chance, not load.
 */
const ALWAYS_ROOM = 8;

/**
 * Sends the requests of one session to one engine, by consistent hashing with bounded loads
 * (Mirrokni, Thorup, Zadimoghaddam 2018): an engine that would exceed `max(8, ceil(loadFactor ·
 * (all requests + 1) / engines))` is passed over. Requests without a session go to the engine with
 * the fewest requests.
 */
export class SessionSticky implements Policy {
  private readonly ring: HashRing;
  private readonly loadFactor: number;
  private readonly others = new LeastRequests();

  constructor(spec: SessionStickySpec) {
    this.ring = new HashRing(spec.virtualNodes ?? 128);
    this.loadFactor = spec.loadFactor ?? 1.25;
  }

  choose(context: PlacementContext): number {
    const { engines, request } = context;
    if (request.sessionKey === 0) return this.others.choose(context);
    this.ring.update(engines);
    let all = 1;
    for (let i = 0; i < engines.length; i++) all += engines[i]!.requests;
    const bound = Math.max(ALWAYS_ROOM, Math.ceil((this.loadFactor * all) / engines.length));
    // The mean is below the bound, so some engine has room.
    return this.ring.find(request.sessionKey, (i) => engines[i]!.requests < bound);
  }
}
