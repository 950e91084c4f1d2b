/**
 * Groups of layers with their own KV blocks, as vLLM's hybrid KV cache manager forms them
 * (`_get_kv_cache_groups_uniform_page_size`). All have the same number of layers, so their blocks
 * have one size and come from one pool.
 */
export interface KvGroups {
  /** Groups that keep the whole context, >= 1. */
  readonly full: number;
  /** Groups of layers with a sliding window, >= 1. */
  readonly windowed: number;
  /** Tokens that windowed groups attend to, including the newest, >= 1. */
  readonly windowTokens: number;
  /**
   * Windowed groups attend to the tokens since the last multiple of `windowTokens` (chunked local
   * attention of Llama 4). Unset: to the last `windowTokens`.
   */
  readonly isChunked?: boolean;
}

export interface KvLayoutOptions {
  readonly blockSize: number;
  /** Unset: one group, which keeps the whole context. */
  readonly kvGroups?: KvGroups | undefined;
  /** Most tokens of one sequence in a step; Infinity without a limit. */
  readonly stepTokens: number;
}

/**
 * Counts the blocks of a sequence over all groups. A sequence takes a block of each group for every
 * `blockSize` tokens; before each step the windowed groups free those whose tokens no further token
 * attends to. Source: vLLM's single_type_kv_cache_manager.py (`get_num_skipped_tokens`,
 * `remove_skipped_blocks`) and kv_cache_interface.py (`max_admission_blocks_per_request`).
 */
export class KvLayout {
  readonly blockSize: number;
  /** Blocks that `blockSize` further tokens take. */
  readonly perBlock: number;
  /** Windowed groups, 0 when there are none. */
  readonly windowed: number;
  /** Groups that keep the whole context. */
  readonly full: number;
  /**
   * A windowed group frees `blocksPerPeriod` blocks each time the context has grown by `period`
   * tokens beyond `offset`.
   */
  readonly period: number;
  readonly offset: number;
  readonly blocksPerPeriod: number;
  /** Windowed groups attend to a chunk of the context. */
  readonly isChunked: boolean;
  /** Blocks at the end of a prefix that a windowed group needs to continue after it. */
  readonly hitBlocks: number;
  /** Most blocks that a sequence has in one windowed group. */
  private readonly windowBlocks: number;

  constructor({ blockSize, kvGroups, stepTokens }: KvLayoutOptions) {
    const { full = 1, windowed = 0, windowTokens = 1, isChunked = false } = kvGroups ?? {};
    this.blockSize = blockSize;
    this.isChunked = isChunked;
    this.hitBlocks = Math.ceil((windowTokens - 1) / blockSize);
    this.full = full;
    this.windowed = windowed;
    this.perBlock = full + windowed;
    // A chunk that ends inside a block counts as ending with it.
    this.period = isChunked ? Math.ceil(windowTokens / blockSize) * blockSize : blockSize;
    this.offset = isChunked ? 0 : windowTokens - 1;
    this.blocksPerPeriod = this.period / blockSize;
    this.windowBlocks = isChunked
      ? Math.ceil((this.period + stepTokens) / blockSize)
      : Math.ceil((windowTokens - 1 + stepTokens) / blockSize) + 1;
  }

  /** Blocks of each group for these tokens, including freed ones. */
  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.blockSize);
  }

  /**
   * Leading blocks that a windowed group has freed by the step after `computed` tokens. The next
   * token is not computed yet and belongs to its own window, hence `offset`.
   */
  slidAt(computed: number): number {
    if (this.windowed === 0 || computed < this.offset) return 0;
    return Math.floor((computed - this.offset) / this.period) * this.blocksPerPeriod;
  }

  /** Blocks over all groups of a sequence that has `blocks` and has freed `slid` of them. */
  held(blocks: number, slid: number): number {
    return blocks * this.perBlock - slid * this.windowed;
  }

  /**
   * Most blocks at once, over all groups, up to `tokens` tokens: windowed groups have at most a
   * window and the tokens in flight.
   */
  needed(tokens: number): number {
    return this.lackingWhole(tokens, 0);
  }

  /**
   * Blocks over all groups that a sequence lacks for `tokens` tokens when it has the first `had` of
   * each group and windowed ones need none before `slid`.
   */
  lacking(tokens: number, had: number, slid = 0): number {
    const blocks = this.blocksFor(tokens);
    const lacking = this.full * Math.max(0, blocks - had);
    if (this.windowed === 0) return lacking;
    return lacking + this.windowed * Math.max(0, blocks - Math.max(had, slid));
  }

  /**
   * The same for a prompt computed step by step, as vLLM's admission counts: freed blocks are part
   * of the most that a windowed group has at once.
   */
  lackingWhole(tokens: number, had: number, slid = 0): number {
    const blocks = this.blocksFor(tokens);
    const surplus = Math.max(0, blocks - this.windowBlocks);
    const fresh = Math.max(0, blocks - Math.max(had, slid));
    return this.lacking(tokens, had, slid) - this.windowed * Math.min(surplus, fresh);
  }

  /** Tokens of the longest sequence for which `numBlocks` suffice. */
  longest(numBlocks: number): number {
    const { full, windowed, windowBlocks } = this;
    const short = Math.floor(numBlocks / this.perBlock);
    if (windowed === 0 || short < windowBlocks) return short * this.blockSize;
    return Math.floor((numBlocks - windowed * windowBlocks) / full) * this.blockSize;
  }
}
