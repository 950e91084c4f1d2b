/** Blocks that an engine read from the memory of another. */
export interface KvPoolRead {
  /** Id of the engine that was read from. */
  readonly of: string;
  readonly blocks: readonly number[];
  /** Its link is busy until then, wall µs since the Unix epoch. */
  readonly untilUs: number;
}

/** What has changed in the memory that an engine gives to the KV pool. */
export interface KvPoolNews {
  readonly kind: 'news';
  /** Id of the engine. */
  readonly from: string;
  /** Messages of this engine are numbered without a gap, from 1 on. */
  readonly number: number;
  /** Hashes of blocks that were stored; with a minus sign: dropped. In order. */
  readonly blocks: readonly number[];
  /** What was known of the engine is void: it holds these blocks and those that follow. */
  readonly isWhole?: boolean;
  readonly reads?: readonly KvPoolRead[];
}

/** All engines of a KV pool listen to these. */
export type KvPoolMessage =
  | KvPoolNews
  /** The engine leaves. */
  | { readonly kind: 'gone'; readonly from: string }
  /** The engine, or without an id each of them, is to say all that it holds. */
  | { readonly kind: 'ask'; readonly of: string | undefined };
