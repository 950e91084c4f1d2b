import type { EngineJob, KvTransferParams, Placed, Stage } from '@baton/contract';
import type { SettledLeg } from '../../routers/leg';

/** Which way one sequence takes through the cluster. */
export interface Route {
  readonly flow: EngineJob['flow'];
  /** Stage in whose queue it waits first, and the one after it. */
  readonly stage: Stage;
  readonly next: Stage | undefined;
  readonly kvTransferParams: KvTransferParams | undefined;
  /** With `bidirectional_kv_xfer` its blocks are kept at the end. */
  readonly mayKeep?: boolean;
  readonly engineId: string | undefined;
  /** Where it waits, when its flow alone does not say. */
  readonly placed?: Placed;
  /** When it could begin, µs since the Unix epoch, if that was not its arrival. */
  readonly causeUs?: number;
}

/**
 * The way of a request whose parameters name one: to the engine it came in at, else to the stage's
 * shared queue.
 */
export function wishedRoute(
  leg: SettledLeg,
  engine: { engineId: string; stage: Stage } | undefined,
): Route | undefined {
  const engineId = engine?.engineId;
  switch (leg.kind) {
    case 'hold':
      return {
        ...{ ...BASE, flow: 'hold', stage: engine?.stage ?? 'prefill', engineId },
        kvTransferParams: leg.kept,
      };
    case 'attach': {
      const stage = engine?.stage ?? 'decode';
      const { params: kvTransferParams, causeUs } = leg;
      // Legs that are sent at once have nobody who reads an answer's params.
      const since = causeUs === undefined ? { mayKeep: true } : { causeUs };
      return { ...BASE, flow: 'attach', stage, engineId, kvTransferParams, ...since };
    }
    case 'none':
    case 'unusable':
      return engine ? { ...BASE, flow: 'local', stage: engine.stage, engineId } : undefined;
  }
}

/** The two ways that Baton chooses between by itself. */
export function ownRoute(way: 'disaggregated' | 'aggregated'): Route {
  return way === 'disaggregated'
    ? { ...BASE, flow: 'route', stage: 'prefill', next: 'decode' }
    : { ...BASE, flow: 'local', stage: 'aggregated' };
}

/** A prompt that is computed and nothing more, where prompts are computed. */
export function poolingRoute(stage: 'prefill' | 'aggregated'): Route {
  const route = { ...BASE, flow: 'local', stage } as const;
  return stage === 'prefill' ? { ...route, placed: { stage } } : route;
}

const BASE = { next: undefined, kvTransferParams: undefined, engineId: undefined } as const;
