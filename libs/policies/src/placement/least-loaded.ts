import type { EngineView, PlacementContext, Policy } from './policy';
import type { EngineRole } from './topology/topology';

/** Chooses the engine with the fewest requests, on a tie the first. */
export class LeastRequests implements Policy {
  choose(context: PlacementContext): number {
    return context.leastLoaded?.('requests') ?? fewestRequests(context);
  }
}

/**
 * Chooses the engine with the smallest token load, on a tie the one with the fewest requests, then
 * the first.
 */
export class LeastTokens implements Policy {
  choose(context: PlacementContext): number {
    return context.leastLoaded?.('tokens') ?? fewestTokens(context);
  }
}

function fewestRequests({ engines }: PlacementContext): number {
  let best = 0;
  for (let i = 1; i < engines.length; i++) {
    if (engines[i]!.requests < engines[best]!.requests) best = i;
  }
  return best;
}

function fewestTokens({ engines, stage }: PlacementContext): number {
  let best = 0;
  let fewest = tokenLoad(engines[0]!, stage);
  for (let i = 1; i < engines.length; i++) {
    const tokens = tokenLoad(engines[i]!, stage);
    if (tokens > fewest) continue;
    if (tokens === fewest && engines[i]!.requests >= engines[best]!.requests) continue;
    best = i;
    fewest = tokens;
  }
  return best;
}

/**
 * The load that slows down an engine of that stage, in tokens: its waiting prompt tokens and, on
 * stages that generate, the KV that each step reads. KV that a prefill engine holds for others
 * costs it no time.
 */
export function tokenLoad(engine: EngineView, stage: EngineRole): number {
  return stage === 'prefill' ? engine.waitingTokens : engine.waitingTokens + engine.kvTokens;
}
