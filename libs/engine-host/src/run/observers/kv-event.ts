/** The content of vLLM's KV-cache events. */
export type KvEvent =
  /**
   * Consecutive blocks have become findable; `parent` is the block before the first, null at the
   * beginning of a prompt.
   */
  | {
      readonly kind: 'stored';
      readonly hashes: number[];
      readonly parent: number | null;
      readonly tokens: number[];
    }
  | { readonly kind: 'removed'; readonly hashes: number[] }
  | { readonly kind: 'cleared' };

/** Publishes events; packages/kv-events has one over ZeroMQ. */
export interface KvEventPublisher {
  open(): Promise<void>;
  /** One batch, in order. */
  publish(events: readonly KvEvent[]): void;
  close(): Promise<void>;
}

export interface PublisherOptions {
  readonly endpoint: string;
  readonly replayEndpoint?: string;
  readonly topic: string;
  readonly blockSize: number;
  readonly rank: number;
  readonly format: 'array' | 'map';
}
