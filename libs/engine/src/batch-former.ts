import type { BatchAggregates } from '@baton/hardware';
import type { Accounts } from './accounts';
import { AdapterSlots } from './adapter-slots';
import type { DecodeSet } from './decode-set';
import type { Sequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import type { SequenceTable } from './sequence-table';
import type { StepRecord } from './step-record';
import { truncate } from './truncate';
import type { EngineOptions, SequenceHandle } from './types';
import type { SchedulingOrder, WaitingQueue } from './waiting-queue';

export interface BatchFormerParts {
  readonly options: EngineOptions;
  readonly table: SequenceTable;
  readonly blocks: SequenceBlocks;
  readonly decode: DecodeSet;
  readonly queue: WaitingQueue;
  readonly isBefore: SchedulingOrder;
  readonly record: StepRecord;
  readonly accounts: Accounts;
  /** Tokens drafted per decoding sequence and step. */
  readonly draftTokens: number;
}

type Outcome = 'admitted' | 'rejected' | 'passed-over' | 'blocked';

/**
 * Forms the batch of a step the way of vLLM V1's scheduler: first what runs (one token for each that decodes, the next chunk for each
 * that prefills), then what waits, while token budget, slots and blocks last; whoever runs and finds no block preempts the last in
 * line. Owns the prefilling sequences and the running order; the engine applies what the step brings.
 */
export class BatchFormer {
  /** Running sequences whose prompt is not in KV yet, in order of admission. */
  readonly prefilling: Sequence[] = [];
  /** Sequences whose KV came from elsewhere and that the batch formed last let in: they decode from their first step on. */
  readonly joined: Sequence[] = [];
  /** Sequences that got blocks for KV from elsewhere and of which nobody was told yet. */
  readonly reserved: Sequence[] = [];
  /** Sequences whose KV is on its way. */
  deferred = 0;
  /** Prompt tokens of the batch that was formed last. */
  chunkTokens = 0;
  /** Time for which the batch that was formed last loads KV from host memory. */
  loadUs = 0;
  private readonly slots: number;
  /** Tokens of the budget that a decoding sequence takes. */
  private readonly stepTokens: number;
  /** Undefined: adapters are not limited. */
  private readonly adapters: AdapterSlots | undefined;
  private readonly scratch: Sequence[] = [];
  private admissions = 0;
  /** Who has this rank or a later one came in with the step under way. */
  private firstRank = 0;
  /** With drafts: those of them whose KV came from elsewhere. */
  private readonly cameWithKv: Sequence[] = [];
  /** Something has changed since the last time that admission found nothing more to admit. */
  private isStale = false;
  private hasPreempted = false;
  /** Whether prompts that were under way before, or anything that ran before, is in the batch. */
  private hasPrompts = false;
  private hasRunning = false;
  /** Tokens of decoding sequences and their drafts. */
  private draftedTokens = 0;
  /** Tokens of empty drafts. */
  private paddingTokens = 0;
  /** Σ over sequences whose KV is on its way, or waits for a slot. */
  private owedBlocks = 0;
  /** Blocks that one more draft may need. */
  private readonly draftBlocks: number;
  /** `long_prefill_token_threshold` of the step under way. */
  private threshold = 0;
  private readonly sums = {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    draftTokens: 0,
    kvUsage: 0,
  };

  constructor(private readonly parts: BatchFormerParts) {
    const { maxNumSeqs, maxNumBatchedTokens, maxAdapters } = parts.options;
    this.stepTokens = 1 + parts.draftTokens;
    this.adapters = maxAdapters === undefined ? undefined : new AdapterSlots(maxAdapters);
    this.draftBlocks = parts.draftTokens > 0 ? parts.blocks.blocksFor(this.stepTokens) : 0;
    this.slots = Math.min(maxNumSeqs, Math.floor(maxNumBatchedTokens / this.stepTokens));
  }

  get running(): number {
    return this.parts.decode.size + this.prefilling.length;
  }

  get isFull(): boolean {
    return this.running >= this.slots;
  }

  /** Whether there is only one sequence, whose long prompt then keeps nobody waiting. */
  private get isAlone(): boolean {
    const { queue } = this.parts;
    return this.running + queue.size + queue.unreservedSize + this.deferred <= 1;
  }

  /** Whether the next step may admit somebody although nothing happens until then. */
  get mayAdmitNext(): boolean {
    const { queue } = this.parts;
    return this.isStale && queue.size + queue.unreservedSize > 0;
  }

  /** Says that blocks, slots or waiting sequences have changed. */
  touch(): void {
    this.isStale = true;
  }

  /** Returns whether anything runs in the step. */
  form(): boolean {
    const { decode, queue } = this.parts;
    this.chunkTokens = 0;
    this.paddingTokens = 0;
    this.firstRank = this.admissions;
    this.loadUs = 0;
    truncate(this.joined, 0);
    truncate(this.cameWithKv, 0);
    this.hasPreempted = false;
    this.threshold = this.isAlone ? 0 : this.parts.options.longPrefillTokenThreshold;
    this.growDecoding();
    this.continuePrompts();
    this.hasPrompts = this.chunkTokens > 0;
    this.hasRunning = this.hasPrompts || decode.size > 0;
    if (!this.hasPreempted && this.isStale) {
      this.admit();
      this.isStale = this.chunkTokens > 0 && queue.size + queue.unreservedSize > 0;
    }
    return decode.size + this.chunkTokens > 0;
  }

  /** Sums over the batch that was formed last. A sequence with one new token is a decode, as in vLLM's attention kernels. */
  aggregates(): BatchAggregates {
    const { sums } = this;
    const { decode, blocks, draftTokens } = this.parts;
    sums.prefillTokens = sums.prefillSeqs = sums.prefillQuadratic = sums.prefillContext = 0;
    sums.decodeSeqs = decode.size;
    sums.decodeContext = decode.contextTokens + decode.size;
    sums.draftTokens = draftTokens * decode.size;
    sums.kvUsage = blocks.pool.usage;
    for (const seq of this.prefilling) {
      if (seq.chunk > 1 || seq.computed === 0) this.addChunk(seq);
      else if (seq.chunk === 1) {
        sums.decodeSeqs++;
        sums.decodeContext += seq.computed + 1;
      }
    }
    return sums;
  }

  /** Who is in the batch that was formed last, with how many tokens, in order of admission. For tests: O(batch). */
  batch(): (readonly [SequenceHandle, tokens: number])[] {
    const { decode } = this.parts;
    const prompts = this.prefilling.filter(({ chunk }) => chunk > 0);
    const inOrder = [...decode.members, ...prompts].sort((a, b) => a.rank - b.rank);
    return inOrder.map((seq) => [seq.handle, this.tokensOf(seq)]);
  }

  private tokensOf(seq: Sequence): number {
    if (seq.state !== 'decoding') return seq.chunk + seq.padding;
    const { decode, draftTokens } = this.parts;
    return draftTokens === 0 ? 1 : this.reachOf(seq) - decode.contextOf(seq);
  }

  /** Takes a running sequence out of the batch; what it has computed stays findable, its blocks go. */
  drop(seq: Sequence): void {
    const { decode, blocks } = this.parts;
    if (seq.state === 'decoding') {
      decode.leave(seq);
      blocks.publish(seq, seq.computed);
    } else {
      this.prefilling.splice(this.prefilling.indexOf(seq), 1);
      this.chunkTokens -= seq.chunk;
      seq.chunk = 0;
    }
    blocks.release(seq);
    this.touch();
  }

  private addChunk({ chunk, computed }: Sequence): void {
    if (chunk === 0) return;
    const { sums } = this;
    sums.prefillTokens += chunk;
    sums.prefillSeqs++;
    sums.prefillQuadratic += chunk * (2 * computed + chunk);
    sums.prefillContext += computed;
  }

  /** Tokens of the budget that are left; each decoding sequence has its one, and those of its draft, set aside. */
  private budget(): number {
    const { options, decode, draftTokens } = this.parts;
    const decodeTokens = draftTokens > 0 ? this.draftedTokens : decode.size;
    return options.maxNumBatchedTokens - decodeTokens - this.chunkTokens - this.paddingTokens;
  }

  private growDecoding(): void {
    if (this.parts.draftTokens > 0) {
      this.growForDrafts();
      return;
    }
    const { decode, blocks } = this.parts;
    if (decode.demand <= blocks.pool.freeBlocks) {
      decode.grow();
      return;
    }
    for (const seq of decode.growing().sort((a, b) => a.rank - b.rank)) {
      if (seq.state !== 'decoding') continue;
      while (seq.state === 'decoding' && blocks.pool.freeBlocks === 0) this.preempt();
      if (seq.state === 'decoding') blocks.grow(seq, decode.contextOf(seq));
    }
    decode.hasGrown();
  }

  /** With drafts a sequence may fill a block at any step, and need several. */
  private growForDrafts(): void {
    const { decode, blocks } = this.parts;
    const { scratch: growing } = this;
    let demand = 0;
    truncate(growing, 0);
    for (const seq of decode.members) {
      blocks.publish(seq, decode.contextOf(seq));
      const fresh = blocks.blocksFor(this.reachOf(seq)) - seq.blocks.length;
      if (fresh <= 0) continue;
      demand += fresh;
      growing.push(seq);
    }
    // What was published may let somebody in without having cost a free block.
    this.touch();
    if (demand > blocks.pool.freeBlocks) growing.sort((a, b) => a.rank - b.rank);
    for (const seq of growing) {
      while (seq.state === 'decoding' && !blocks.extend(seq, this.reachOf(seq))) this.preempt();
    }
    this.draftedTokens = decode.members.reduce((sum, seq) => sum + this.tokensOf(seq), 0);
  }

  /** Tokens for which a decoding sequence needs room in the step: its next one and those of the draft, within the model's context. */
  private reachOf(seq: Sequence): number {
    const { decode, options } = this.parts;
    return Math.min(decode.contextOf(seq) + this.stepTokens, options.maxModelLen - 1);
  }

  private continuePrompts(): void {
    if (this.prefilling.length === 0) return;
    for (const seq of this.snapshotOf(this.prefilling)) {
      if (seq.state === 'prefilling') this.continuePrompt(seq);
    }
    // Only now: a sequence further back may have preempted one that already had its chunk.
    for (const seq of this.prefilling) this.parts.blocks.publish(seq, seq.computed + seq.chunk);
  }

  private continuePrompt(seq: Sequence): void {
    const tokens = Math.min(this.wanted(seq, seq.computed), this.budget());
    if (tokens <= 0) return;
    while (!this.parts.blocks.extend(seq, seq.computed + tokens)) {
      this.preempt();
      if (seq.state !== 'prefilling') return;
    }
    seq.chunk = tokens;
    this.chunkTokens += tokens;
  }

  /** Tokens that the sequence would compute in one step if only its own options limited it. */
  private wanted(seq: Sequence, computed: number): number {
    const rest = seq.targetTokens - computed;
    return this.threshold > 0 ? Math.min(rest, this.threshold) : rest;
  }

  /** Waiting sequences for whose adapter the batch formed last had no place. */
  get passedOver(): number {
    return this.adapters?.passedOver.length ?? 0;
  }

  private admit(): void {
    if (this.adapters === undefined) {
      this.admitWhileRoom();
      return;
    }
    const { passedOver } = this.adapters;
    this.adapters.begin(this.parts.decode, this.prefilling);
    truncate(passedOver, 0);
    this.admitWhileRoom();
    for (const seq of passedOver) this.parts.queue.putBack(seq);
  }

  private admitWhileRoom(): void {
    const { queue } = this.parts;
    while (!this.isFull) {
      const seq = queue.next();
      if (seq === undefined || this.tryAdmit(seq) === 'blocked') return;
    }
  }

  private tryAdmit(seq: Sequence): Outcome {
    if (this.budget() <= 0) return 'blocked';
    if (this.adapters?.has(seq) === false) {
      this.parts.queue.remove(seq);
      this.adapters.passedOver.push(seq);
      return 'passed-over';
    }
    return seq.state === 'ready' ? this.tryAdmitReady(seq) : this.tryStart(seq);
  }

  /** It has its blocks, up to the KV that has come. */
  private tryAdmitReady(seq: Sequence): Outcome {
    const { blocks, options } = this.parts;
    const { computed: start, targetTokens } = seq;
    const padding = this.paddingOf(seq, start);
    const tokens = this.firstChunk(seq, start, padding);
    const needed = Math.max(
      start + tokens + padding,
      options.schedulerReserveFullIsl ? targetTokens : 0,
    );
    if (tokens === 0 || !blocks.fitsMore(seq, needed, this.watermark)) return 'blocked';
    blocks.extend(seq, start + tokens + padding);
    this.run(seq, start, { tokens, padding });
    return 'admitted';
  }

  /** It has no blocks: they are given to it to compute, or for what comes from elsewhere. */
  private tryStart(seq: Sequence): Outcome {
    const { blocks, accounts, options } = this.parts;
    const { watermark } = this;
    const start = blocks.match(seq);
    if (seq.state === 'unreserved') return this.tryReserve(seq, start);
    if (start / seq.targetTokens < seq.cacheHitThreshold) {
      this.reject(seq, start);
      return 'rejected';
    }
    const padding = this.paddingOf(seq, start);
    const tokens = this.firstChunk(seq, start, padding);
    if (tokens === 0) return 'blocked';
    if (options.schedulerReserveFullIsl && !blocks.fits(seq.targetTokens, watermark))
      return 'blocked';
    if (!blocks.start(seq, start + tokens + padding, watermark)) return 'blocked';
    accounts.query(seq, start);
    accounts.cached(seq, start);
    this.run(seq, start, { tokens, padding });
    return 'admitted';
  }

  /** What prompts under way still need stays free: what is reserved gives nothing back until its KV has come. */
  private tryReserve(seq: Sequence, hitTokens: number): Outcome {
    const { blocks, queue, accounts, options } = this.parts;
    const { watermark } = this;
    if (options.schedulerReserveFullIsl && !blocks.fits(seq.promptTokens, watermark))
      return 'blocked';
    const spare = watermark + this.owedToPrompts();
    if (!blocks.start(seq, Math.max(hitTokens, seq.remoteTokens), spare)) return 'blocked';
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

  /** Its KV is not awaited any more. */
  forgetReserved(seq: Sequence): void {
    this.deferred--;
    const at = this.reserved.indexOf(seq);
    if (at >= 0) this.reserved.splice(at, 1);
  }

  /** A sequence with blocks runs or goes: nothing is kept free for it any more. */
  settle(seq: Sequence): void {
    this.owedBlocks -= seq.owedBlocks;
    seq.owedBlocks = 0;
  }

  /** Blocks that prompts under way lack to their end, those whose KV is on its way among them. */
  private owedToPrompts(): number {
    let owed = this.owedBlocks + this.draftBlocks;
    for (const seq of this.prefilling) {
      const isNew = seq.rank >= this.firstRank && !this.cameWithKv.includes(seq);
      const endsAtOnce = seq.computed + seq.chunk >= seq.targetTokens;
      if (!isNew || !endsAtOnce) owed += this.owedTo(seq);
    }
    return owed;
  }

  private owedTo(seq: Sequence): number {
    const drafted = this.parts.draftTokens > 0 ? this.stepTokens : 0;
    const needed = this.parts.blocks.blocksFor(seq.targetTokens + drafted);
    return Math.max(0, needed - seq.blocks.length);
  }

  /** Blocks that an admission leaves free while others run. */
  private get watermark(): number {
    return this.running > 0 ? (this.parts.options.watermarkBlocks ?? 0) : 0;
  }

  private reject(seq: Sequence, hitTokens: number): void {
    const { queue, record, accounts, table } = this.parts;
    queue.remove(seq);
    accounts.query(seq, hitTokens);
    accounts.rejected++;
    if (!seq.wasScheduled) seq.cachedTokens = hitTokens;
    record.rejected.push(seq.handle);
    table.retire(seq);
  }

  /**
   * Beside decoding sequences, one that has a single token to compute gets as many as they, empty drafts, so that the batch stays uniform; not beside
   * prompts under way, nor at the end of the model's context.
   */
  private paddingOf(seq: Sequence, start: number): number {
    const { draftTokens, options } = this.parts;
    const isDecode = seq.targetTokens - start === 1 && !this.hasPrompts;
    if (draftTokens === 0 || !isDecode || (start === 0 && !this.hasRunning)) return 0;
    return start + this.stepTokens < options.maxModelLen ? draftTokens : 0;
  }

  /** Without chunked prefill a prompt runs whole: within the budget, or alone when it is larger than any budget. */
  private firstChunk(seq: Sequence, start: number, padding: number): number {
    const { enableChunkedPrefill } = this.parts.options;
    const wanted = this.wanted(seq, start);
    const budget = this.budget();
    if (padding > 0 && wanted + padding > budget) return 0;
    if (enableChunkedPrefill || wanted <= budget) return Math.min(wanted, budget);
    return this.running === 0 ? wanted : 0;
  }

  private run(
    seq: Sequence,
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
      if (seq.state === 'waiting') seq.cachedTokens = start;
      record.scheduled.push(seq.handle);
    }
    seq.rank = this.admissions++;
    if (seq.hostTokens > 0) this.loadFromHost(seq);
    // Its one token makes it a decode like the others; drafts only begin behind that token.
    if (isReady) blocks.publish(seq, start + tokens);
    if (isDecodeAtOnce(seq) && draftTokens === 0) {
      decode.join(seq);
      this.joined.push(seq);
      return;
    }
    if (isReady && draftTokens > 0) this.cameWithKv.push(seq);
    seq.state = 'prefilling';
    seq.computed = start;
    seq.chunk = tokens;
    seq.padding = padding;
    this.chunkTokens += tokens;
    this.paddingTokens += padding;
    this.prefilling.push(seq);
    blocks.publish(seq, start + tokens);
  }

  private loadFromHost(seq: Sequence): void {
    const { blockSize, hostTier } = this.parts.options;
    const bytes = (seq.hostTokens / blockSize) * hostTier!.bytesPerBlock;
    this.loadUs += (bytes / hostTier!.bytesPerSecond) * 1e6;
    seq.hostTokens = 0;
  }

  /** Sends the last in line back to the queue, to be computed again: the newest, or the one that priority orders last. */
  private preempt(): void {
    const { queue, record, accounts } = this.parts;
    const victim = this.lastInLine();
    this.drop(victim);
    victim.computed = 0;
    queue.addPreempted(victim);
    record.preempted.push(victim.handle);
    accounts.preemptions++;
    this.hasPreempted = true;
  }

  private lastInLine(): Sequence {
    const { decode, options, isBefore } = this.parts;
    const byPriority = options.schedulingPolicy === 'priority';
    let last: Sequence | undefined;
    const consider = (seq: Sequence): void => {
      if (last === undefined) last = seq;
      else if (byPriority ? isBefore(last, seq) : last.rank < seq.rank) last = seq;
    };
    decode.members.forEach(consider);
    this.prefilling.forEach(consider);
    return last!;
  }

  /** A copy to walk over while preemption changes the original. */
  private snapshotOf(sequences: readonly Sequence[]): Sequence[] {
    const { scratch } = this;
    truncate(scratch, 0);
    for (const seq of sequences) scratch.push(seq);
    return scratch;
  }
}

/** All of its prompt is here, and it generates. */
function isDecodeAtOnce({ state, mode, accountedTokens, promptTokens }: Sequence): boolean {
  return state === 'ready' && mode === 'remote-prefill' && accountedTokens === promptTokens;
}
