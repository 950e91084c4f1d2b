import type { KvPoolRecord } from '@baton/analysis';
import type { EngineCounters } from '@baton/engine';
import type { KvPoolMember } from '@baton/kvcache';

/** The figures of an engine's node in the KV pool at the end of a run. */
export function poolRecord(member: KvPoolMember, counters: EngineCounters): KvPoolRecord {
  const { terms } = member;
  const { stored, evicted, fetched, declined, fetchUs } = member.counters;
  const { promptTokensLoadedFromHost: hostTokens, promptTokensFetched: fetchedTokens } = counters;
  return {
    deviceTokens: counters.promptTokensCached - hostTokens - fetchedTokens,
    hostTokens,
    fetchedTokens,
    fetchUs,
    blocks: terms.blocks,
    fetchedBytes: fetched * terms.bytesPerBlock,
    storedBlocks: stored,
    evictedBlocks: evicted,
    declinedFetches: declined,
  };
}
