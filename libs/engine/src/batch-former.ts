import type { BatchAggregates } from '@baton/hardware';
import type { Accounts } from './accounts';
import { AdapterSlots } from './adapter-slots';
import type { DecodeSet } from './decode-set';
import type { Sequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import type { SequenceTable } from './sequence-table';
import type { StepRecord } from './step-record';
import { truncate } from './truncate';
import type { EngineOptions } from './types';
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

const ALL = false;
const READY_ONLY = true;

type Outcome = 'admitted' | 'rejected' | 'passed-over' | 'no-budget' | 'no-room';

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
  /** Something has changed since the last time that admission found nothing more to admit. */
  private isStale = false;
  private hasPreempted = false;
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
    this.slots = Math.min(maxNumSeqs, Math.floor(maxNumBatchedTokens / this.stepTokens));
  }

  get running(): number {
    return this.parts.decode.size + this.prefilling.length;
  }

  get isFull(): boolean {
    return this.running >= this.slots;
  }

  /** Whether the next step may admit somebody although nothing happens until then. */
  get mayAdmitNext(): boolean {
    return this.isStale && this.parts.queue.size > 0;
  }

  /** Says that blocks, slots or waiting sequences have changed. */
  touch(): void {
    this.isStale = true;
  }

  /** Returns whether anything runs in the step. */
  form(): boolean {
    const { decode, queue } = this.parts;
    this.chunkTokens = 0;
    this.loadUs = 0;
    truncate(this.joined, 0);
    this.hasPreempted = false;
    this.growDecoding();
    this.continuePrompts();
    if (this.hasPreempted) {
      // Who was preempted would take the same blocks again and lose them again, unless those that hold the rest get to run.
      if (decode.size + this.chunkTokens === 0) this.admit(READY_ONLY);
    } else if (this.isStale) {
      this.admit(ALL);
      this.isStale = this.chunkTokens > 0 && queue.size > 0;
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
    const { options, decode } = this.parts;
    return options.maxNumBatchedTokens - decode.size * this.stepTokens - this.chunkTokens;
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
  }

  /** Tokens for which a decoding sequence needs room in the step: its next one and those of the draft that it could keep. */
  private reachOf(seq: Sequence): number {
    const reach = this.parts.decode.contextOf(seq) + this.stepTokens;
    return Math.min(reach, seq.promptTokens + seq.outputTokens - 1);
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
    const threshold = this.parts.options.longPrefillTokenThreshold;
    const rest = seq.targetTokens - computed;
    return threshold > 0 ? Math.min(rest, threshold) : rest;
  }

  /** Waiting sequences for whose adapter the batch formed last had no place. */
  get passedOver(): number {
    return this.adapters?.passedOver.length ?? 0;
  }

  private admit(readyOnly: boolean): void {
    if (this.adapters === undefined) {
      this.admitWhileRoom(readyOnly);
      return;
    }
    const { passedOver } = this.adapters;
    this.adapters.begin(this.parts.decode, this.prefilling);
    truncate(passedOver, 0);
    this.admitWhileRoom(readyOnly);
    for (const seq of passedOver) this.parts.queue.putBack(seq);
  }

  private admitWhileRoom(readyOnly: boolean): void {
    const { queue } = this.parts;
    let isHeadBlocked = readyOnly;
    while (!this.isFull) {
      const seq = queue.next(isHeadBlocked);
      if (seq === undefined) return;
      const outcome = this.tryAdmit(seq);
      if (outcome === 'no-budget') return;
      if (outcome === 'no-room') isHeadBlocked = true;
    }
  }

  private tryAdmit(seq: Sequence): Outcome {
    const { blocks, accounts, options } = this.parts;
    if (this.budget() <= 0) return 'no-budget';
    if (this.adapters?.has(seq) === false) {
      this.parts.queue.remove(seq);
      this.adapters.passedOver.push(seq);
      return 'passed-over';
    }
    const isReady = seq.state === 'ready';
    const start = isReady ? seq.computed : blocks.match(seq);
    if (!isReady && start / seq.targetTokens < thresholdOf(seq, options)) {
      this.reject(seq, start);
      return 'rejected';
    }
    const tokens = this.firstChunk(seq, start);
    if (tokens === 0) return 'no-budget';
    if (!isReady) {
      if (options.schedulerReserveFullIsl && !blocks.fits(seq.targetTokens)) return 'no-room';
      if (!blocks.start(seq, start + tokens)) return 'no-room';
      accounts.query(seq, start);
      accounts.cached(seq, start);
    }
    this.run(seq, start, tokens);
    return 'admitted';
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

  /** Without chunked prefill a prompt runs whole: within the budget, or alone when it is larger than any budget. */
  private firstChunk(seq: Sequence, start: number): number {
    const { enableChunkedPrefill } = this.parts.options;
    const wanted = this.wanted(seq, start);
    const budget = this.budget();
    if (enableChunkedPrefill || wanted <= budget) return Math.min(wanted, budget);
    return this.running === 0 ? wanted : 0;
  }

  private run(seq: Sequence, start: number, tokens: number): void {
    const { queue, record, blocks, decode, draftTokens } = this.parts;
    queue.remove(seq);
    this.adapters?.take(seq);
    if (!seq.wasScheduled) {
      seq.wasScheduled = true;
      if (seq.state === 'waiting') seq.cachedTokens = start;
      record.scheduled.push(seq.handle);
    }
    seq.rank = this.admissions++;
    if (seq.hostTokens > 0) this.loadFromHost(seq);
    // Its one token makes it a decode like the others; drafts only begin behind that token.
    if (isDecodeAtOnce(seq) && draftTokens === 0) {
      decode.join(seq);
      this.joined.push(seq);
      return;
    }
    seq.state = 'prefilling';
    seq.computed = start;
    seq.chunk = tokens;
    this.chunkTokens += tokens;
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
    queue.addWaiting(victim);
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

/** A prompt that is to be fetched by others is computed whatever the cache holds. */
function thresholdOf({ mode, parameters }: Sequence, options: EngineOptions): number {
  if (mode === 'prefill-and-hold') return 0;
  return parameters.cacheHitThreshold ?? options.globalCacheHitThreshold ?? 0;
}

/** All of its prompt is here, and it generates. */
function isDecodeAtOnce({ state, mode, accountedTokens, promptTokens }: Sequence): boolean {
  return state === 'ready' && mode === 'remote-prefill' && accountedTokens === promptTokens;
}
