import { usToSeconds, type Micros } from '@baton/kernel';
import { roundTo } from './round-to';
import type { EngineRecord } from './run-record';

/** The use of the cluster's KV pool by one engine. */
export interface KvPoolRecord {
  /** Prompt tokens by the place of their KV: on the GPUs, on the own node, on other nodes. */
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly fetchedTokens: number;
  /** Bytes that one rank fetched from other nodes, and the time of these transfers. */
  readonly fetchedBytes: number;
  readonly fetchUs: Micros;
  readonly blocks: number;
  readonly storedBlocks: number;
  readonly evictedBlocks: number;
  readonly declinedFetches: number;
}

/** The KV pool over a run, in a result. docs/replay.md defines each name. */
export interface KvPoolSummary {
  readonly capacity_blocks: number;
  readonly hit_tokens_device: number;
  readonly hit_tokens_host: number;
  readonly hit_tokens_global: number;
  readonly fetched_bytes: number;
  readonly fetch_seconds: number | null;
  readonly declined_fetches: number;
  readonly stored_blocks: number;
  readonly evicted_blocks: number;
}

/** Undefined: no engine was in a pool. */
export function kvPoolSummary(engines: readonly EngineRecord[]): KvPoolSummary | undefined {
  const records = engines.flatMap(({ kvPool }) => (kvPool === undefined ? [] : [kvPool]));
  if (records.length === 0) return undefined;
  const total = (key: keyof KvPoolRecord): number =>
    records.reduce((sum, record) => sum + record[key], 0);
  return {
    capacity_blocks: total('blocks'),
    hit_tokens_device: total('deviceTokens'),
    hit_tokens_host: total('hostTokens'),
    hit_tokens_global: total('fetchedTokens'),
    fetched_bytes: total('fetchedBytes'),
    fetch_seconds: roundTo(usToSeconds(total('fetchUs')), 6),
    declined_fetches: total('declinedFetches'),
    stored_blocks: total('storedBlocks'),
    evicted_blocks: total('evictedBlocks'),
  };
}
