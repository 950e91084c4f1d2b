import type { BatchParts } from './batch';
import type { EngineSequence } from './sequence';

/** What one batch may take: tokens, slots, and the blocks for what a sequence computes in it. */
export class Budget {
  /**
   * Tokens that the batch may still take (vLLM's `token_budget`). Below 0 when a prompt that
   * exceeds the whole budget runs alone.
   */
  tokens = 0;
  /** Most running sequences (`max_num_running_reqs`). */
  readonly slots: number;
  /** Tokens of a decoding sequence with a whole draft. */
  readonly stepTokens: number;
  /** Context length beyond which nothing is drafted. */
  private readonly draftLimit: number;
  /** Context length beyond which the drafter gets no blocks. */
  private readonly slotLimit: number;
  /** `long_prefill_token_threshold` of this step; 0: none. */
  private threshold = 0;
  private readonly options: BatchParts['options'];
  private readonly blocks: BatchParts['blocks'];

  constructor(parts: BatchParts) {
    this.options = parts.options;
    this.blocks = parts.blocks;
    const { maxNumSeqs, maxNumBatchedTokens, maxModelLen, numBlocks } = parts.options;
    const longest = parts.blocks.layout.longest(numBlocks);
    this.stepTokens = 1 + parts.draftTokens;
    this.draftLimit = Math.min(maxModelLen - 1, longest);
    this.slotLimit = Math.min(maxModelLen, longest);
    this.slots = Math.min(maxNumSeqs, Math.floor(maxNumBatchedTokens / this.stepTokens));
  }

  /**
   * Begins a batch.
   *
   * @param sequences  running and waiting ones; a long prompt delays no other when it is alone
   */
  begin(sequences: number): void {
    const { maxNumBatchedTokens, longPrefillTokenThreshold } = this.options;
    this.tokens = maxNumBatchedTokens;
    this.threshold = sequences > 1 ? longPrefillTokenThreshold : 0;
  }

  /** Whether the batch has taken any tokens. */
  get isUsed(): boolean {
    return this.tokens !== this.options.maxNumBatchedTokens;
  }

  /** Tokens that the sequence would compute in one step if only its own options limited it. */
  wanted({ targetTokens }: EngineSequence, computed: number): number {
    const rest = targetTokens - computed;
    return this.threshold > 0 ? Math.min(rest, this.threshold) : rest;
  }

  /**
   * Tokens of a waiting sequence in its first step, 0 when it has to wait. Without chunked prefill
   * a prompt runs in one step: within the budget, or when nothing else runs.
   *
   * @param padding  empty drafts, which come all or not at all
   */
  firstChunk(
    seq: EngineSequence,
    start: number,
    { padding, isFirst }: { padding: number; isFirst: boolean },
  ): number {
    const wanted = this.wanted(seq, start);
    if (padding > 0 && wanted + padding > this.tokens) return 0;
    if (wanted <= this.tokens) return wanted;
    if (this.options.enableChunkedPrefill) return this.tokens;
    return isFirst ? wanted : 0;
  }

  /**
   * Tokens of a decoding sequence: the next one and those of the draft, limited by the model's
   * context and the number of blocks.
   */
  rowTokens(computed: number): number {
    return Math.min(this.stepTokens, this.draftLimit - computed);
  }

  /** Whether a whole draft fits the model's context. */
  fitsDraft(computed: number): boolean {
    return computed + this.stepTokens <= this.draftLimit;
  }

  /** Leading tokens of a sequence that need blocks in a step after which `tokens` are computed. */
  slotsFor(tokens: number): number {
    return Math.max(tokens, Math.min(tokens + this.blocks.lookahead, this.slotLimit));
  }
}
