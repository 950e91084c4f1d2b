import type { EngineView, PlacementContext, Policy } from './policy';
import type { EngineRole } from './topology';

/** The engine with the fewest requests, the first in order of several. */
export class LeastRequests implements Policy {
  choose(context: PlacementContext): number {
    return context.leastLoaded?.('requests') ?? fewestRequests(context);
  }
}

/**
 * The engine with the fewest tokens to work on, of several the one with the fewest requests, of
 * several the first in order.
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
 * The load that slows an engine of that stage down, in tokens: the prompt tokens before it, and
 * where tokens are generated also the KV that each step reads. KV that a prefill engine holds for
 * others costs it no time.
 */
export function tokenLoad(engine: EngineView, stage: EngineRole): number {
  return stage === 'prefill' ? engine.waitingTokens : engine.waitingTokens + engine.kvTokens;
}
