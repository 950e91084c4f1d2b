import type { Stage } from './job';

/** The sequences of one engine, as `/debug/batch` shows them. */
export interface BatchView {
  readonly engine_id: string;
  /** `P0`, `D3`. */
  readonly name: string;
  readonly index: number;
  readonly role: Stage;
  /** False while nothing can run, or while the engine is paused. */
  readonly is_stepping: boolean;
  /** Sequences in the engine without a place in the batch, or without KV. */
  readonly waiting: number;
  readonly running: number;
  readonly held_blocks: number;
  readonly free_blocks: number;
  readonly kv_cache_usage: number;
  /** The oldest sequences; `omitted` more are not shown. */
  readonly requests: readonly BatchEntry[];
  readonly omitted: number;
}

export interface BatchEntry {
  readonly id: string;
  readonly phase: 'waiting' | 'transfer' | 'prefill' | 'decode' | 'handing-over';
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly generated_tokens: number;
  /** Prompt tokens in KV plus generated tokens. */
  readonly context_length: number;
}
