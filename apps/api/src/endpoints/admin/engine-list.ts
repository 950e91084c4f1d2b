import { memberLoad, type MemberEngine } from '@baton/engine-host';

/** An engine as `/admin/engines` shows it. */
export interface ListedEngine {
  readonly object: 'engine';
  /** That of the engine's first rank. Orders take it, or the name. */
  readonly id: string;
  /** `D3`. */
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly pid: number | undefined;
  readonly host: string | undefined;
  /** Running and waiting sequences, of all ranks. */
  readonly requests: number;
  readonly ranks: readonly RankEntry[];
}

interface RankEntry {
  readonly rank: number;
  readonly engine_id: string;
  /** `D3`, `D3-DP1`. */
  readonly name: string;
  /** Unique in the cluster. */
  readonly index: number;
  readonly running: number;
  readonly waiting: number;
  readonly kv_cache_usage: number;
}

export function engineEntry(engine: MemberEngine): ListedEngine {
  const { engineId: id, name, role, state, ranks } = engine;
  return {
    object: 'engine',
    id,
    name,
    role,
    state,
    pid: ranks[0]?.pid,
    host: ranks[0]?.host,
    requests: memberLoad(engine),
    ranks: ranks.map(({ engineId, name: rankName, index, dataParallel, gauges }) => ({
      rank: dataParallel?.rank ?? 0,
      engine_id: engineId,
      name: rankName,
      index,
      running: gauges.running,
      waiting: gauges.waitingCapacity + gauges.waitingDeferred,
      kv_cache_usage: gauges.kvUsage,
    })),
  };
}
