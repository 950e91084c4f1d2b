import type { EngineJob, KvTransferParams, Placed, Stage } from '@baton/contract';
import { hashString, mix } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import type { SettledLeg } from '../../routers/leg';

/** The route of one sequence through the cluster. */
export interface Route {
  readonly flow: EngineJob['flow'];
  /** Stage in whose queue it waits first, and the one after it. */
  readonly stage: Stage;
  readonly next: Stage | undefined;
  readonly kvTransferParams: KvTransferParams | undefined;
  /** True when its blocks are kept at the end (`bidirectional_kv_xfer`). */
  readonly mayKeep?: boolean;
  readonly engineId: string | undefined;
  /**
   * The engine in whose queue the request waits. Unset: the request waits in the shared queue of
   * its flow.
   */
  readonly placed?: Placed;
  /** Time at which it could start, µs since the Unix epoch. Default: its arrival. */
  readonly causeUs?: number;
}

/**
 * The route that the request's parameters name: to the engine at whose port it came in, else to the
 * stage's shared queue.
 */
export function wishedRoute(
  leg: SettledLeg,
  engine: { engineId: string; stage: Stage } | undefined,
): Route | undefined {
  const engineId = engine?.engineId;
  switch (leg.kind) {
    case 'hold':
      return {
        ...BASE,
        flow: 'hold',
        stage: engine?.stage ?? 'prefill',
        engineId,
        kvTransferParams: leg.earlierParams,
      };
    case 'attach': {
      const stage = engine?.stage ?? 'decode';
      const { params: kvTransferParams, causeUs } = leg;
      // No client reads the parameters in the answer of legs that are sent at the same time.
      const since = causeUs === undefined ? { mayKeep: true } : { causeUs };
      return { ...BASE, flow: 'attach', stage, engineId, kvTransferParams, ...since };
    }
    case 'none':
    case 'unusable':
      return engine ? { ...BASE, flow: 'local', stage: engine.stage, engineId } : undefined;
  }
}

/** The two routes that Baton itself chooses between. */
export function ownRoute(way: 'disaggregated' | 'aggregated'): Route {
  return way === 'disaggregated'
    ? { ...BASE, flow: 'route', stage: 'prefill', next: 'decode' }
    : { ...BASE, flow: 'local', stage: 'aggregated' };
}

/** The route of a prompt that is only computed, on an engine that computes prompts. */
export function poolingRoute(stage: 'prefill' | 'aggregated'): Route {
  const route = { ...BASE, flow: 'local', stage } as const;
  return stage === 'prefill' ? { ...route, placed: { stage } } : route;
}

/** Salt that separates the prefixes of requests that must not share KV. */
export function cacheSalt({ model, cacheSalt: own }: GenerationRequest): number {
  return mix(hashString(model), hashString(own ?? ''));
}

const BASE = { next: undefined, kvTransferParams: undefined, engineId: undefined } as const;
