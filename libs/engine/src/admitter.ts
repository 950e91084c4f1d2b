import { type Micros, truncate } from '@baton/kernel';
import type { Accounts } from './accounts';
import { AdapterSlots } from './adapter-slots';
import type { Batch, BatchParts } from './batch';
import type { EngineSequence } from './sequence';
import type { EngineSequenceTable } from './sequence-table';
import type { StepRecord } from './step-record';
import type { EngineOptions } from './port/engine-options';
import type { WaitingQueue } from './waiting-queue';

export interface AdmitterParts extends BatchParts {
  readonly table: EngineSequenceTable;
  readonly queue: WaitingQueue;
  readonly record: StepRecord;
  readonly accounts: Accounts;
}

type Outcome = 'admitted' | 'rejected' | 'passed-over' | 'blocked';

/**
 * The waiting loop of vLLM's scheduler: admits waiting sequences to a batch, and reserves blocks
 * for those whose KV comes from elsewhere. It does both in a single order, as long as token budget,
 * slots and blocks last. Owns the reservations; the batch former drives it.
 */
export class Admitter {
  /** Sequences that got blocks for KV from elsewhere and have not been reported yet. */
  readonly reserved: EngineSequence[] = [];
  /** Sequences whose KV is on its way. */
  deferred = 0;
  /** Undefined when adapters are not limited. */
  private readonly adapters: AdapterSlots | undefined;
  private admissions = 0;
  /** Sequences of this rank or a later one were admitted with the step under way. */
  private firstRank = 0;
  /** With drafts: the admitted sequences whose KV came from elsewhere. */
  private readonly cameWithKv: EngineSequence[] = [];
  /** Sequences that `isStuck` was true for while the batch was formed; empty between batches. */
  private readonly stuck: EngineSequence[] = [];
  /** Whether the batch computes prompts that were admitted before. */
  private hasPrompts = false;
  private hasRunning = false;
  /** Σ over sequences whose KV is on its way, or waits for a slot. */
  private owedBlocks = 0;
  /** Time at which the batch is formed. */
  private nowUs: Micros = 0;
  /**
   * Number of ended steps when the engine last looked for new sequences outside of the interval.
   */
  private lookedAt = 0;
  /** Blocks that one more draft may need. */
  private readonly draftBlocks: number;

  constructor(
    private readonly parts: AdmitterParts,
    private readonly batch: Batch,
  ) {
    const { options, draftTokens, blocks } = parts;
    const { maxAdapters } = options;
    this.adapters = maxAdapters === undefined ? undefined : new AdapterSlots(maxAdapters);
    this.draftBlocks = draftTokens > 0 ? blocks.layout.needed(this.draftSlots) : 0;
  }

  /** Waiting sequences whose adapter had no place in the last batch. */
  get passedOver(): number {
    return this.adapters?.passedOver.length ?? 0;
  }

  /** Admits new sequences now and restarts the interval, which counts while steps only decode. */
  look(): void {
    this.lookedAt = this.parts.accounts.steps;
  }

  /** Whether the batch may take new sequences. */
  get mayAdmit(): boolean {
    const { schedulerRecvInterval: every = 1 } = this.parts.options;
    return every === 1 || (this.parts.accounts.steps - this.lookedAt) % every === 0;
  }

  /** Admits to a batch that already holds all running sequences. */
  admit(nowUs: Micros): void {
    const { batch, cameWithKv } = this;
    this.nowUs = nowUs;
    this.firstRank = this.admissions;
    this.hasPrompts = batch.chunkTokens > 0;
    this.hasRunning = batch.rows > 0;
    if (!this.hasRunning && !batch.leavesOutAny) this.look();
    truncate(cameWithKv, 0);
    if (this.adapters === undefined) {
      this.admitWhileRoom();
      return;
    }
    const { passedOver } = this.adapters;
    this.adapters.begin(this.parts.decode.current, batch.prefilling);
    truncate(passedOver, 0);
    this.admitWhileRoom();
    for (const seq of passedOver) this.parts.queue.putBack(seq);
  }

  private admitWhileRoom(): void {
    const { stuck, parts } = this;
    const { queue } = parts;
    while (!this.batch.isFull) {
      const seq = queue.next();
      if (seq === undefined || (stuck.length > 0 && seq.state !== 'ready')) break;
      if (this.tryAdmit(seq) !== 'blocked') continue;
      if (!this.isStuck(seq)) break;
      queue.remove(seq);
      stuck.push(seq);
    }
    for (const seq of stuck) queue.putBack(seq);
    truncate(stuck, 0);
  }

  /**
   * True for a sequence whose KV has arrived and that lacks blocks which only others like it can
   * free. vLLM tries the first one forever.
   */
  private isStuck({ state }: EngineSequence): boolean {
    return state === 'ready' && this.isAlone;
  }

  private tryAdmit(seq: EngineSequence): Outcome {
    const isNew = seq.state !== 'ready' && !seq.wasScheduled;
    if (this.batch.budget() <= 0 || (isNew && !this.mayAdmit)) return 'blocked';
    if (this.adapters?.has(seq) === false) {
      this.parts.queue.remove(seq);
      this.adapters.passedOver.push(seq);
      return 'passed-over';
    }
    if (seq.state === 'ready' && seq.remoteTokens > 0) return this.tryAdmitReady(seq);
    if (seq.blocks.length > 0) {
      // Its KV did not come. It needs as many blocks again.
      this.parts.blocks.release(seq);
      this.settle(seq);
      this.owedBlocks += seq.owedBlocks = this.owedTo(seq);
    }
    return this.tryStart(seq);
  }

  /** Admits a sequence that has the blocks of the KV that has arrived. */
  private tryAdmitReady(seq: EngineSequence): Outcome {
    const { blocks } = this.parts;
    const { computed: start } = seq;
    const wanted = this.parts.draftTokens > 0 ? this.paddingOf(seq, start) : 0;
    // A sequence that is alone runs without drafts for which there will never be blocks.
    const padding = wanted > 0 && this.isAlone && !this.fitsReady(seq, wanted) ? 0 : wanted;
    const tokens = this.firstChunk(seq, start, padding);
    if (tokens === 0 || !this.fitsReady(seq, padding)) return 'blocked';
    blocks.extend(seq, start, this.batch.slotsFor(start + tokens + padding));
    this.run(seq, start, { tokens, padding });
    return 'admitted';
  }

  /**
   * Whether blocks are free for the first chunk of the sequence, and for all of its tokens when the
   * options require that.
   */
  private fitsReady(seq: EngineSequence, padding: number): boolean {
    const { blocks, options } = this.parts;
    const { computed: start, targetTokens } = seq;
    const { length } = seq.blocks;
    const free = blocks.pool.freeBlocks - this.watermark;
    const tokens = this.batch.slotsFor(start + this.firstChunk(seq, start, padding) + padding);
    if (blocks.layout.lacking(tokens, length) > free) return false;
    return (
      !options.schedulerReserveFullIsl || blocks.layout.lackingWhole(targetTokens, length) <= free
    );
  }

  /** Gives blocks to a sequence that has none: to compute, or for KV from elsewhere. */
  private tryStart(seq: EngineSequence): Outcome {
    const { blocks, accounts, options } = this.parts;
    const { watermark } = this;
    const start = blocks.match(seq, this.nowUs);
    const isCovered = seq.state === 'unreserved' && start >= seq.remoteTokens;
    if (seq.state === 'unreserved' && !isCovered) return this.tryReserve(seq, start);
    if (!isCovered && start / seq.targetTokens < thresholdOf(seq, options)) {
      this.reject(seq, start);
      return 'rejected';
    }
    const padding = this.parts.draftTokens > 0 ? this.paddingOf(seq, start) : 0;
    const tokens = this.firstChunk(seq, start, padding);
    if (tokens === 0) return 'blocked';
    const { targetTokens } = seq;
    const whole = { computed: start, tokens: targetTokens, spare: watermark, isWhole: true };
    if (options.schedulerReserveFullIsl && !blocks.fits(whole)) return 'blocked';
    const slots = this.batch.slotsFor(start + tokens + padding);
    const chunk = { computed: start, tokens: slots, spare: watermark };
    if (!blocks.start(seq, chunk)) return 'blocked';
    accounts.query(seq, start);
    accounts.cached(seq, start);
    if (!seq.wasScheduled) seq.cachedTokens = start;
    if (isCovered) {
      seq.remoteTokens = 0;
      this.reserved.push(seq);
    }
    this.run(seq, start, { tokens, padding });
    return 'admitted';
  }

  /**
   * Keeps those blocks free that admitted prompts still need, because a reservation frees no block
   * until its KV has arrived.
   */
  private tryReserve(seq: EngineSequence, hitTokens: number): Outcome {
    const { blocks, queue, accounts, options } = this.parts;
    const { watermark } = this;
    const computed = Math.max(hitTokens, seq.remoteTokens);
    const whole = { computed, tokens: seq.promptTokens, spare: watermark, isWhole: true };
    if (options.schedulerReserveFullIsl && !blocks.fits(whole)) return 'blocked';
    const spare = this.isAlone ? 0 : watermark + this.owedToPrompts();
    if (!blocks.start(seq, { computed, tokens: computed, spare })) return 'blocked';
    queue.remove(seq);
    seq.state = 'deferred';
    seq.cachedTokens = hitTokens;
    seq.owedBlocks = this.owedTo(seq);
    this.owedBlocks += seq.owedBlocks;
    this.deferred++;
    accounts.query(seq, hitTokens);
    this.reserved.push(seq);
    return 'admitted';
  }

  /**
   * Makes the sequence compute the tokens whose KV will not arrive. It keeps the blocks that are
   * reserved for them until it is scheduled.
   */
  loseKv(seq: EngineSequence): void {
    const { queue } = this.parts;
    const isReserved = seq.state === 'deferred';
    if (isReserved) this.forgetReserved(seq);
    else queue.remove(seq);
    seq.remoteTokens = 0;
    seq.state = isReserved ? 'ready' : 'waiting';
    queue.putBack(seq);
  }

  /** Removes a sequence whose KV is no longer awaited, or that leaves. */
  forgetReserved(seq: EngineSequence): void {
    if (seq.state === 'deferred') this.deferred--;
    const at = this.reserved.indexOf(seq);
    if (at >= 0) this.reserved.splice(at, 1);
  }

  /**
   * Called when a sequence with blocks runs or leaves; no blocks are kept free for it from then on.
   */
  settle(seq: EngineSequence): void {
    this.owedBlocks -= seq.owedBlocks;
    seq.owedBlocks = 0;
  }

  /** True when no other runs, leaves, is held or awaits KV: no blocks will become free. */
  private get isAlone(): boolean {
    const { leaving, heldBlocks } = this.parts.table;
    return this.batch.running + this.deferred + leaving.length + heldBlocks === 0;
  }

  /** Blocks that prompts under way still need, including those whose KV is on its way. */
  private owedToPrompts(): number {
    let owed = this.owedBlocks + this.draftBlocks;
    for (const seq of this.batch.prefilling) {
      const isNew = seq.rank >= this.firstRank && !this.cameWithKv.includes(seq);
      const endsAtOnce = seq.computed + seq.chunk >= seq.targetTokens;
      if (!isNew || !endsAtOnce) owed += this.owedTo(seq);
    }
    return owed;
  }

  private owedTo(seq: EngineSequence): number {
    const drafted = this.parts.draftTokens > 0 ? this.draftSlots : 0;
    const { layout } = this.parts.blocks;
    const had = seq.blocks.length;
    return layout.lackingWhole(seq.targetTokens + drafted, had);
  }

  /** Tokens that a decode step needs blocks for. */
  private get draftSlots(): number {
    return this.batch.stepTokens + this.parts.blocks.lookahead;
  }

  /** Blocks that an admission leaves free while others run. */
  private get watermark(): number {
    return this.batch.running > 0 ? (this.parts.options.watermarkBlocks ?? 0) : 0;
  }

  private reject(seq: EngineSequence, hitTokens: number): void {
    const { queue, record, accounts, table } = this.parts;
    queue.remove(seq);
    accounts.query(seq, hitTokens);
    accounts.rejected++;
    if (!seq.wasScheduled) seq.cachedTokens = hitTokens;
    record.rejected.push(seq.handle);
    table.retire(seq);
  }

  /**
   * Beside decoding sequences, a sequence with a single token to compute gets empty drafts, so that
   * it has as many tokens as they have and the batch stays uniform. It gets none beside chunks of
   * prompts and at the end of the model's context.
   */
  private paddingOf(seq: EngineSequence, start: number): number {
    const { draftTokens } = this.parts;
    const isDecode = seq.targetTokens - start === 1 && !this.hasPrompts;
    if (!isDecode || (start === 0 && !this.hasRunning)) return 0;
    return start + this.batch.stepTokens <= this.batch.draftLimit ? draftTokens : 0;
  }

  /**
   * Without chunked prefill a prompt runs in one step: within the budget, or alone when it exceeds
   * the whole budget.
   */
  private firstChunk(seq: EngineSequence, start: number, padding: number): number {
    const { enableChunkedPrefill } = this.parts.options;
    const wanted = this.batch.wanted(seq, start);
    const budget = this.batch.budget();
    if (padding > 0 && wanted + padding > budget) return 0;
    if (enableChunkedPrefill || wanted <= budget) return Math.min(wanted, budget);
    return this.batch.running === 0 ? wanted : 0;
  }

  private run(
    seq: EngineSequence,
    start: number,
    { tokens, padding }: { tokens: number; padding: number },
  ): void {
    const { queue, record, blocks, decode, draftTokens } = this.parts;
    const isReady = seq.state === 'ready';
    queue.remove(seq);
    this.settle(seq);
    this.adapters?.take(seq);
    if (!seq.wasScheduled) {
      seq.wasScheduled = true;
      record.scheduled.push(seq.handle);
    }
    seq.rank = this.admissions++;
    if (seq.hostTokens + seq.poolTokens > 0) this.load(seq);
    // A sequence with one token counts as a decode; drafts begin only after that token.
    if (isReady) blocks.publish(seq, start + tokens);
    if (isDecodeAtOnce(seq) && draftTokens === 0) {
      decode.current.join(seq);
      this.batch.joined.push(seq);
      return;
    }
    if (isReady && draftTokens > 0) this.cameWithKv.push(seq);
    seq.state = 'prefilling';
    seq.computed = start;
    seq.chunk = tokens;
    seq.padding = padding;
    this.batch.chunkTokens += tokens;
    this.batch.paddingTokens += padding;
    this.batch.prefilling.push(seq);
    blocks.publish(seq, start + tokens);
  }

  /** Loads run one after the other, because the links serve one read at a time. */
  private load(seq: EngineSequence): void {
    const { batch } = this;
    const { blockSize, hostTier } = this.parts.options;
    if (seq.poolTokens > 0) batch.loadUs += this.parts.blocks.fetch(this.nowUs + batch.loadUs);
    const bytes = (seq.hostTokens / blockSize) * hostTier!.bytesPerBlock;
    batch.loadUs += (bytes / hostTier!.bytesPerSecond) * 1e6;
    seq.hostTokens = 0;
    seq.poolTokens = 0;
  }
}

/** A held prompt is computed regardless of the cache, because decode fetches all of it. */
function thresholdOf({ mode, parameters }: EngineSequence, options: EngineOptions): number {
  if (mode === 'prefill-and-hold') return 0;
  return parameters.cacheHitThreshold ?? options.globalCacheHitThreshold ?? 0;
}

/** True when its whole prompt is in KV and it generates. */
function isDecodeAtOnce({ state, mode, accountedTokens, promptTokens }: EngineSequence): boolean {
  return state === 'ready' && mode === 'remote-prefill' && accountedTokens === promptTokens;
}
