import { type Micros, truncate } from '@baton/kernel';
import { Admitter, type AdmitterParts } from './admitter';
import { Batch } from './batch';
import type { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';
import { isBefore } from './waiting-queue';

/**
 * Forms the batch of a step as vLLM V1's scheduler does: first the running sequences (one token for
 * each that decodes, the next chunk for each that prefills), then, by the admitter, the waiting
 * ones; a running sequence that finds no block preempts the last in line. The engine applies the
 * results of the step.
 */
export class BatchFormer {
  readonly batch: Batch;
  readonly admitter: Admitter;
  private readonly scratch: EngineSequence[] = [];
  /** Something has changed since admission last found nothing more to admit. */
  private isStale = false;
  private hasPreempted = false;
  /** Each batch is formed while the one before runs: its tokens are not known yet. */
  formsAhead = false;

  constructor(private readonly parts: AdmitterParts) {
    this.batch = new Batch(parts);
    this.admitter = new Admitter(parts, this.batch);
  }

  /** Whether the next step may admit a sequence although nothing happens until then. */
  get mayAdmitNext(): boolean {
    return this.isStale && this.hasWaiting;
  }

  /** Says that blocks, slots or waiting sequences have changed. */
  touch(): void {
    this.isStale = true;
  }

  /** Returns whether anything runs in the step. */
  form(nowUs: Micros): boolean {
    const { batch, admitter } = this;
    const { decode, queue } = this.parts;
    const waiting = queue.size + queue.unreservedSize + admitter.deferred;
    batch.clear(batch.running + waiting <= 1);
    this.hasPreempted = false;
    this.growDecoding();
    this.continuePrompts();
    if (!this.hasPreempted && this.isStale) {
      admitter.admit(nowUs);
      this.isStale = batch.chunkTokens > 0 && this.hasWaiting;
    }
    return decode.current.size + batch.chunkTokens > 0;
  }

  /**
   * Takes a running sequence out of the batch and frees its blocks; their content stays findable.
   */
  drop(seq: EngineSequence): void {
    this.parts.blocks.publish(seq, this.leave(seq));
    this.parts.blocks.release(seq);
    this.touch();
  }

  /**
   * Returns the tokens whose full blocks others may find: all that are computed. With batches
   * formed ahead vLLM leaves out a token that a decode step under way computes until the batch
   * behind has given the sequence room for the next one: the token was not known when that step was
   * formed.
   */
  private leave(seq: EngineSequence): number {
    const isPrompt = seq.state === 'prefilling' || seq.inFlight > 0;
    if (seq.state === 'decoding') this.parts.decode.of(seq).leave(seq);
    else this.batch.drop(seq);
    const hasRoom = seq.blocks.length * this.parts.blocks.blockSize > seq.computed;
    const isAhead = this.formsAhead && !hasRoom && !isPrompt && seq.emitted > 1;
    return seq.computed - (isAhead ? 1 : 0);
  }

  private get hasWaiting(): boolean {
    const { queue } = this.parts;
    return queue.size + queue.unreservedSize > 0;
  }

  private growDecoding(): void {
    if (this.parts.draftTokens > 0) {
      this.growForDrafts();
      return;
    }
    const { blocks } = this.parts;
    const decode = this.parts.decode.current;
    if (decode.demand <= blocks.pool.freeBlocks) {
      decode.grow();
      return;
    }
    for (const seq of decode.growing().sort((a, b) => a.rank - b.rank)) {
      if (seq.state === 'decoding') this.growOne(seq, decode);
    }
    decode.hasGrown();
  }

  private growOne(seq: EngineSequence, decode: DecodeSet): void {
    const { blocks } = this.parts;
    if (blocks.layout.windowed > 0) blocks.slide(seq, decode.contextOf(seq));
    if (!decode.isGrowing(seq)) return;
    const { perBlock } = blocks.layout;
    while (seq.state === 'decoding' && blocks.pool.freeBlocks < perBlock) this.preempt();
    if (seq.state === 'decoding') blocks.grow(seq, decode.contextOf(seq));
  }

  /** With drafts a sequence may fill a block at any step, and need several. */
  private growForDrafts(): void {
    const { blocks } = this.parts;
    const decode = this.parts.decode.current;
    const { scratch: growing } = this;
    let demand = 0;
    truncate(growing, 0);
    for (const seq of decode.members) {
      blocks.publish(seq, decode.contextOf(seq));
      const fresh = blocks.layout.blocksFor(this.batch.reachOf(seq)) - seq.blocks.length;
      if (fresh <= 0 && blocks.layout.windowed === 0) continue;
      demand += Math.max(0, fresh) * blocks.layout.perBlock;
      growing.push(seq);
    }
    // A published block may let a sequence in without having cost a free block.
    this.touch();
    if (demand > blocks.pool.freeBlocks) growing.sort((a, b) => a.rank - b.rank);
    for (const seq of growing) {
      while (seq.state === 'decoding' && !this.extendForDraft(seq)) this.preempt();
    }
    this.batch.draftedTokens = decode.members.reduce(
      (sum, seq) => sum + this.batch.tokensOf(seq),
      0,
    );
  }

  private extendForDraft(seq: EngineSequence): boolean {
    const { blocks, decode } = this.parts;
    return blocks.extend(seq, decode.current.contextOf(seq), this.batch.reachOf(seq));
  }

  private continuePrompts(): void {
    if (this.batch.prefilling.length === 0) return;
    for (const seq of this.snapshotOf(this.batch.prefilling)) {
      if (seq.state === 'prefilling') this.continuePrompt(seq);
    }
    // Only now: a sequence further back may have preempted one that already had its chunk.
    for (const seq of this.batch.prefilling)
      this.parts.blocks.publish(seq, seq.computed + seq.chunk);
  }

  private continuePrompt(seq: EngineSequence): void {
    const tokens = Math.min(this.batch.wanted(seq, seq.computed), this.batch.budget());
    if (tokens <= 0) return;
    // What a batch in flight computes is not there yet, and attends to its own windows.
    const there = seq.computed - seq.inFlight;
    while (!this.parts.blocks.extend(seq, there, seq.computed + tokens)) {
      this.preempt();
      if (seq.state !== 'prefilling') return;
    }
    seq.chunk = tokens;
    this.batch.chunkTokens += tokens;
  }

  /**
   * Sends the last in line back to the queue, to be computed again: the newest, or the last by
   * the order of the queue.
   */
  private preempt(): void {
    const { queue, record, accounts, blocks } = this.parts;
    const victim = this.lastInLine();
    const getsToken = victim.state !== 'prefilling' && victim.mode !== 'prefill-and-hold';
    if (this.formsAhead && getsToken) record.departed.push(victim);
    blocks.publishOwn(victim, this.leave(victim));
    blocks.release(victim);
    this.touch();
    victim.computed = 0;
    queue.addPreempted(victim);
    record.preempted.push(victim.handle);
    accounts.preemptions++;
    this.hasPreempted = true;
  }

  private lastInLine(): EngineSequence {
    const { decode, queue } = this.parts;
    let last: EngineSequence | undefined;
    const consider = (seq: EngineSequence): void => {
      if (last === undefined) last = seq;
      else if (queue.preemptsLast ? isBefore(last, seq) : last.rank < seq.rank) last = seq;
    };
    for (const set of decode.all) set.members.forEach(consider);
    this.batch.prefilling.forEach(consider);
    this.batch.ending.forEach(consider);
    return last!;
  }

  /** A copy to walk over while preemption changes the original. */
  private snapshotOf(sequences: readonly EngineSequence[]): EngineSequence[] {
    const { scratch } = this;
    truncate(scratch, 0);
    for (const seq of sequences) scratch.push(seq);
    return scratch;
  }
}
