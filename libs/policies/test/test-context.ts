import type { EngineView, PlacementContext, PlacementRequest } from '../src/placement/policy';
import type { EngineRole } from '../src/placement/topology/topology';

/** An idle engine, except for the given facts. */
export function engineView(facts: Partial<EngineView> & { engineId: string }): EngineView {
  return { requests: 0, waitingRequests: 0, waitingTokens: 0, kvTokens: 0, kvUsage: 0, ...facts };
}

/** `count` idle engines. */
export function idleEngines(count: number): EngineView[] {
  return Array.from({ length: count }, (_, i) => engineView({ engineId: `engine-${i}` }));
}

/** A request of 1,000 private tokens without a session, except for the given facts. */
export function placementRequest(facts: Partial<PlacementRequest> = {}): PlacementRequest {
  return {
    promptTokens: 1_000,
    sessionKey: 0,
    blockHashes: [],
    blockFrom: 0,
    blockCount: 0,
    ...facts,
  };
}

interface Scene {
  readonly engines: readonly EngineView[];
  readonly stage?: EngineRole;
  readonly request?: PlacementRequest;
  /** By engine id; 0 for the others. */
  readonly cached?: Readonly<Record<string, number>>;
  readonly pool?: PlacementContext['pool'];
}

/** Engines that compute one prompt token per µs, whatever its context. */
export function placementContext(scene: Scene): PlacementContext {
  return {
    stage: scene.stage ?? 'prefill',
    request: scene.request ?? placementRequest(),
    engines: scene.engines,
    cachedTokens: ({ engineId }) => scene.cached?.[engineId] ?? 0,
    prefillUs: (_engine, tokens) => tokens,
    pool: scene.pool,
  };
}
