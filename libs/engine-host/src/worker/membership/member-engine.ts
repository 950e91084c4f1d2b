import type { EnginePresence, Stage } from '@baton/contract';

/** One engine of the topology, with all its data-parallel ranks. */
export interface MemberEngine {
  /** The id of rank 0. */
  readonly engineId: string;
  /** `D3`. */
  readonly name: string;
  readonly role: Stage;
  /** The least ready state of its ranks: `ready` when all are. */
  readonly state: EnginePresence['state'];
  readonly ranks: readonly EnginePresence[];
}

/** The engines, from the presences of their ranks, by index. */
export function memberEngines(presences: readonly EnginePresence[]): MemberEngine[] {
  const ranks = new Map<string, EnginePresence[]>();
  for (const presence of [...presences].sort((a, b) => a.index - b.index)) {
    const engineId = presence.dataParallel?.replicaId ?? presence.engineId;
    ranks.set(engineId, [...(ranks.get(engineId) ?? []), presence]);
  }
  return [...ranks].map(([engineId, of]) => memberEngine(engineId, of));
}

function memberEngine(engineId: string, ranks: readonly EnginePresence[]): MemberEngine {
  const isAny = (state: EnginePresence['state']): boolean =>
    ranks.some((rank) => rank.state === state);
  const state = isAny('draining') ? 'draining' : isAny('starting') ? 'starting' : 'ready';
  const { stage: role, dataParallel, name: own } = ranks[0] as EnginePresence;
  return { engineId, name: dataParallel?.replicaName ?? own, role, state, ranks };
}

/** Sequences in the engine. */
export function memberLoad({ ranks }: MemberEngine): number {
  return ranks.reduce(
    (sum, { gauges }) => sum + gauges.running + gauges.waitingCapacity + gauges.waitingDeferred,
    0,
  );
}

/** Engines that take work, by role. */
export function readyCounts(engines: readonly MemberEngine[]): Readonly<Record<Stage, number>> {
  const countOf = (role: Stage): number =>
    engines.filter((engine) => engine.role === role && engine.state === 'ready').length;
  return {
    prefill: countOf('prefill'),
    decode: countOf('decode'),
    aggregated: countOf('aggregated'),
  };
}
