/** Blocks that an engine read from the memory of another. */
export interface KvPoolRead {
  /** Id of the source engine. */
  readonly of: string;
  readonly blocks: readonly number[];
  /** End of the use of its link, wall µs since the Unix epoch. */
  readonly untilUs: number;
}

/** The changes in an engine's part of the KV pool. */
export interface KvPoolNews {
  readonly kind: 'news';
  /** Id of the engine. */
  readonly from: string;
  /** Messages of this engine are numbered without a gap, from 1 on. */
  readonly number: number;
  /** Hashes of stored blocks, negative for dropped ones, in order. */
  readonly blocks: readonly number[];
  /** True when earlier messages are void: the engine holds these blocks and those that follow. */
  readonly isWhole?: boolean;
  readonly reads?: readonly KvPoolRead[];
}

/** All engines of a KV pool listen to these. */
export type KvPoolMessage =
  | KvPoolNews
  /** The engine leaves. */
  | { readonly kind: 'gone'; readonly from: string }
  /** Asks the engine, or without an id all engines, for the whole content. */
  | { readonly kind: 'ask'; readonly of: string | undefined };
