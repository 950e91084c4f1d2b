import { memberLoad, type MemberEngine } from '@baton/engine-host';

/** An engine as `/admin/engines` shows it. */
export interface ListedEngine {
  readonly object: 'engine';
  /** The id to use in an order to leave: that of the engine's first rank. */
  readonly id: string;
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
  /** Unique in the cluster. */
  readonly index: number;
  readonly running: number;
  readonly waiting: number;
  readonly kv_cache_usage: number;
}

export function engineEntry(engine: MemberEngine): ListedEngine {
  const { engineId: id, role, state, ranks } = engine;
  return {
    object: 'engine',
    id,
    role,
    state,
    pid: ranks[0]?.pid,
    host: ranks[0]?.host,
    requests: memberLoad(engine),
    ranks: ranks.map(({ engineId, index, dataParallel, gauges }) => ({
      rank: dataParallel?.rank ?? 0,
      engine_id: engineId,
      index,
      running: gauges.running,
      waiting: gauges.waitingCapacity + gauges.waitingDeferred,
      kv_cache_usage: gauges.kvUsage,
    })),
  };
}
