import { type Micros, truncate } from '@baton/kernel';
import { Admitter, type AdmitterParts } from './admitter';
import { Batch } from './batch';
import type { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';
import { isBefore } from './waiting-queue';

/**
 * Forms the batch of a step as vLLM V1's scheduler does. First come the running sequences: one
 * token for each that decodes, the next chunk for each that prefills. Then the admitter adds
 * waiting ones. A running sequence without a free block preempts the last in line. The engine
 * applies the results of the step.
 */
export class BatchFormer {
  readonly batch: Batch;
  readonly admitter: Admitter;
  private readonly scratch: EngineSequence[] = [];
  /** True when blocks, slots or waiting sequences have changed since the last admission ended. */
  private isStale = false;
  private hasPreempted = false;
  /**
   * Sequences of this rank or a later one are left out of the batch: vLLM's loop over running
   * sequences ends before them.
   */
  private cutRank = Infinity;
  /** Tokens left for the current sequence. Undefined while there are enough for all. */
  private left: number | undefined;
  /**
   * Blocks stay with a sequence while a batch in flight writes to them, as with vLLM's
   * `defer_block_free`: KV that comes from elsewhere could be overwritten.
   */
  readonly defersFrees: boolean;
  /** True when batches are formed while the previous one runs. */
  formsAhead = false;
  /** True while a batch is formed ahead: the tokens of the step under way are not known yet. */
  private isAhead = false;

  constructor(private readonly parts: AdmitterParts) {
    this.batch = new Batch(parts);
    this.admitter = new Admitter(parts, this.batch);
    const { asyncScheduling, hasConnector, freesAtOnce } = parts.options;
    this.defersFrees = asyncScheduling === true && hasConnector === true && freesAtOnce !== true;
  }

  /** Whether the next step can admit a sequence without any change before it. */
  get mayAdmitNext(): boolean {
    return this.hasWaiting && (this.isStale || this.mayGainRoom);
  }

  /** True when windows may free blocks in any step, more than it takes. */
  private get mayGainRoom(): boolean {
    return this.parts.blocks.layout.windowed > 0 && !this.batch.isFull;
  }

  /** Records that blocks, slots or waiting sequences have changed. */
  touch(): void {
    this.isStale = true;
  }

  /**
   * Returns whether anything runs in the step. `isAhead` is true while the step before is under
   * way.
   */
  form(nowUs: Micros, isAhead = false): boolean {
    const { batch, admitter } = this;
    this.isAhead = isAhead;
    const { queue } = this.parts;
    const waiting = queue.size + queue.unreservedSize + admitter.deferred;
    if (batch.chunkTokens > 0) admitter.look();
    batch.clear(batch.running + waiting <= 1);
    this.hasPreempted = false;
    this.cutRank = Infinity;
    if (this.parts.options.promptsFirst === true && this.formOfPrompts(nowUs)) return true;
    batch.resume();
    this.growDecoding();
    this.continuePrompts();
    if (!this.hasPreempted && (this.isStale || (this.hasWaiting && this.mayGainRoom))) {
      this.admit(nowUs);
    }
    return batch.rows > 0;
  }

  /** Forms a batch of prompts alone; returns whether there are any to compute. */
  private formOfPrompts(nowUs: Micros): boolean {
    const { batch } = this;
    batch.isOfPrompts = true;
    this.continuePrompts();
    if (!this.hasPreempted && this.isStale) this.admit(nowUs);
    batch.isOfPrompts = false;
    if (batch.chunkTokens === 0) return false;
    batch.stallAll();
    return true;
  }

  private admit(nowUs: Micros): void {
    const { admitter, batch } = this;
    admitter.admit(nowUs);
    this.isStale = (batch.chunkTokens > 0 || !admitter.mayAdmit) && this.hasWaiting;
  }

  /** Takes a running sequence out of the batch; its computed blocks stay in the prefix cache. */
  drop(seq: EngineSequence): void {
    this.parts.blocks.publish(seq, this.leave(seq, seq.isDoomed));
    this.touch();
  }

  /**
   * Returns the tokens whose full blocks others may find: all computed ones. With batches formed
   * ahead, vLLM leaves out a token that a decode step under way computes until the next batch has
   * given the sequence room for a further one, because the token was not known when that step was
   * formed.
   *
   * @param isInStep its results of the step under way, or of the one that ends, are not known
   */
  private leave(seq: EngineSequence, isInStep: boolean): number {
    const isPrompt = seq.state === 'prefilling' || seq.inFlight > 0;
    if (seq.state === 'decoding') this.parts.decode.of(seq).leave(seq);
    else this.batch.drop(seq);
    const hasRoom = seq.blocks.length * this.parts.blocks.blockSize > seq.computed;
    const isAhead = this.formsAhead && isInStep && !hasRoom && !isPrompt && seq.emitted > 1;
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
    const hasPrompts = this.batch.prefilling.length > 0;
    const prompts = hasPrompts ? this.demandOfPrompts : 0;
    const lacksTokens = hasPrompts && this.mayLackTokens;
    if (!lacksTokens && decode.demand + prompts <= blocks.pool.freeBlocks) {
      decode.grow();
      return;
    }
    this.takeTurns(decode.growing(lacksTokens), lacksTokens);
    decode.hasGrown();
  }

  /**
   * A prompt can leave too few tokens for the decoding sequences behind it, which were admitted to
   * a batch without it.
   */
  private get mayLackTokens(): boolean {
    const { batch, defersFrees } = this;
    const [first] = batch.prefilling;
    if (!defersFrees || first === undefined) return false;
    const { members } = this.parts.decode.current;
    if (!members.some(({ rank }) => rank > first.rank)) return false;
    const wanted = batch.prefilling.reduce((sum, seq) => sum + batch.wanted(seq, seq.computed), 0);
    return wanted > batch.budget();
  }

  /**
   * Gives blocks and tokens of the batch to these sequences and to admitted prompts, in order of
   * admission, until one of the two runs out.
   */
  private takeTurns(decoding: readonly EngineSequence[], lacksTokens: boolean): void {
    const order = [...decoding, ...this.batch.prefilling].sort((a, b) => a.rank - b.rank);
    this.left = lacksTokens ? this.parts.options.maxNumBatchedTokens : undefined;
    for (const seq of order) {
      if (!this.mayRun(seq)) continue;
      if (this.left === 0) this.leaveOutFrom(seq);
      else if (seq.state === 'prefilling') this.continuePrompt(seq);
      else this.continueDecoding(seq);
      if (this.left !== undefined && this.mayRun(seq)) this.left -= this.batch.tokensOf(seq);
    }
    this.left = undefined;
  }

  private continueDecoding(seq: EngineSequence): void {
    if (this.parts.draftTokens === 0) {
      this.growOne(seq, this.parts.decode.current);
      return;
    }
    if (this.left !== undefined) this.batch.cutDrafts(seq, this.left);
    if (seq.drafts >= 0) this.growRow(seq);
  }

  /**
   * An upper bound with windows, where a sequence may free blocks before a later one takes its own,
   * and when sequences behind one without blocks are left out. Otherwise exact: the order does not
   * matter.
   */
  private get demandOfPrompts(): number {
    const { layout } = this.parts.blocks;
    if (layout.windowed === 0 && !this.defersFrees) return 0;
    return this.batch.prefilling.reduce((sum, seq) => {
      const tokens = this.batch.slotsFor(seq.computed + this.batch.wanted(seq, seq.computed));
      return sum + layout.lacking(tokens, seq.blocks.length);
    }, 0);
  }

  private growOne(seq: EngineSequence, decode: DecodeSet): void {
    const { blocks } = this.parts;
    if (blocks.layout.windowed > 0) blocks.slide(seq, this.processedOf(seq));
    if (!decode.isGrowing(seq)) return;
    const { perBlock } = blocks.layout;
    while (seq.state === 'decoding' && blocks.pool.freeBlocks < perBlock) this.makeRoomFor(seq);
    if (seq.state === 'decoding') blocks.grow(seq, decode.contextOf(seq));
  }

  /** With drafts a sequence can fill a block at any step and need several blocks. */
  private growForDrafts(): void {
    const { blocks, decode } = this.parts;
    const { batch } = this;
    const { members } = decode.current;
    let demand = 0;
    for (const seq of members) {
      blocks.publish(seq, this.processedOf(seq));
      batch.draftFor(seq, this.isAhead);
      const fresh = blocks.layout.blocksFor(batch.slotsFor(seq.reach)) - seq.blocks.length;
      if (fresh > 0) demand += fresh * blocks.layout.perBlock;
    }
    // A sequence that finds a published block needs no free block for it.
    this.touch();
    batch.draftedTokens = members.reduce((sum, seq) => sum + batch.tokensOf(seq), 0);
    const lacksTokens = this.mayLackTokens;
    if (lacksTokens || demand + this.demandOfPrompts > blocks.pool.freeBlocks) {
      this.takeTurns(members, lacksTokens);
    } else {
      for (const seq of this.snapshotOf(members)) if (seq.drafts >= 0) this.growRow(seq);
    }
    batch.draftedTokens = members.reduce((sum, seq) => sum + batch.tokensOf(seq), 0);
  }

  private growRow(seq: EngineSequence): void {
    const { blocks, decode } = this.parts;
    while (seq.state === 'decoding') {
      if (blocks.extend(seq, this.processedOf(seq), this.batch.slotsFor(seq.reach))) {
        // Only the row of a sequence shows the tokens that the step under way computes.
        if (this.isAhead) blocks.publish(seq, decode.current.contextOf(seq) - seq.burst);
        return;
      }
      this.makeRoomFor(seq);
    }
  }

  /** Tokens of a decoding sequence that steps before the one under way have computed. */
  private processedOf(seq: EngineSequence): number {
    const context = this.parts.decode.current.contextOf(seq);
    if (!this.isAhead) return context;
    return seq.inFlight > 0 ? context - seq.inFlight : context - seq.burst - 1;
  }

  private continuePrompts(): void {
    if (this.batch.prefilling.length === 0) return;
    for (const seq of this.snapshotOf(this.batch.prefilling)) {
      if (seq.chunk === 0) this.continuePrompt(seq);
    }
    // This comes last, because a sequence further back can preempt one that already had its chunk.
    for (const seq of this.batch.prefilling)
      this.parts.blocks.publish(seq, seq.computed + seq.chunk);
  }

  private continuePrompt(seq: EngineSequence): void {
    if (seq.state !== 'prefilling' || !this.mayRun(seq)) return;
    const budget = this.left ?? this.batch.budget();
    const tokens = Math.min(this.batch.wanted(seq, seq.computed), budget);
    if (tokens <= 0) return;
    // Tokens that a batch in flight computes are not in KV yet, and attend to their own windows.
    const there = seq.computed - seq.inFlight;
    const slots = this.batch.slotsFor(seq.computed + tokens);
    while (!this.parts.blocks.extend(seq, there, slots)) {
      this.makeRoomFor(seq);
      if (!this.mayRun(seq)) return;
    }
    seq.chunk = tokens;
    this.batch.chunkTokens += tokens;
  }

  /** Whether it is still running, and not left out of the batch. */
  private mayRun({ state, rank }: EngineSequence): boolean {
    return (state === 'prefilling' || state === 'decoding') && rank < this.cutRank;
  }

  /**
   * Preempts the last sequence in line. If a step still writes to the blocks of that sequence,
   * leaves out the sequence that lacks blocks and those behind it.
   */
  private makeRoomFor(seq: EngineSequence): void {
    const victim = this.lastInLine();
    if (this.defersFrees && this.isInFlight(victim)) this.leaveOutFrom(seq);
    else this.preempt(victim, victim.rank < seq.rank);
  }

  private leaveOutFrom({ rank }: EngineSequence): void {
    this.cutRank = rank;
    const { members } = this.parts.decode.current;
    for (const seq of members.filter((member) => member.rank >= rank)) this.batch.stall(seq);
  }

  /** Whether the step under way has a row of a running sequence. */
  private isInFlight({ state, inFlight, burst }: EngineSequence): boolean {
    if (!this.isAhead) return false;
    return state === 'prefilling' ? inFlight > 0 : state === 'ending' || burst >= 0;
  }

  /**
   * Sends a running sequence back to the queue, to be computed again.
   *
   * @param hadTurn the sequence already had its tokens in this batch. They count as known, as in
   * vLLM, which adds their full blocks to the prefix index at that point
   */
  private preempt(victim: EngineSequence, hadTurn: boolean): void {
    const { queue, record, accounts, blocks, draftTokens } = this.parts;
    const generates = victim.state !== 'prefilling' && victim.mode !== 'prefill-and-hold';
    if (this.isAhead && generates && victim.burst >= 0 && this.isOfStep(victim)) {
      record.departed.push(victim);
    }
    const isInStep = this.isInFlight(victim);
    const hasDrafts = isInStep && draftTokens > 0 && victim.state === 'decoding';
    this.giveBackTokens(victim, hadTurn);
    const ofTurn = hadTurn ? this.knownTokensOf(victim) : 0;
    const known = this.leave(victim, isInStep) + ofTurn;
    blocks.publishOwn(victim, hasDrafts ? victim.blocks.published * blocks.blockSize : known);
    blocks.release(victim);
    this.touch();
    victim.computed = 0;
    queue.addPreempted(victim);
    record.preempted.push(victim.handle);
    accounts.preemptions++;
    this.hasPreempted = true;
  }

  /** Whether it is one of the batch under way, with pipeline stages the oldest in flight. */
  private isOfStep(seq: EngineSequence): boolean {
    const { decode } = this.parts;
    return seq.state === 'ending' || decode.of(seq) === decode.current;
  }

  /**
   * The sequence's tokens in the batch whose values are known: not its drafts, and not the output
   * of the step under way.
   */
  private knownTokensOf(seq: EngineSequence): number {
    if (seq.state === 'prefilling') return seq.chunk;
    const { decode } = this.parts;
    const hasRow = seq.state === 'decoding' && decode.of(seq) === decode.current;
    return hasRow && !this.isAhead ? 1 : 0;
  }

  /**
   * The batch can use the tokens of a preempted sequence that already had its turn or a row with
   * drafts.
   */
  private giveBackTokens(victim: EngineSequence, hadTurn: boolean): void {
    const { batch } = this;
    const tokens = batch.tokensOf(victim);
    if (this.left !== undefined && hadTurn) this.left += tokens;
    if (this.parts.draftTokens > 0 && victim.state === 'decoding') batch.draftedTokens -= tokens;
  }

  /** The newest sequence, or the last by the order of the queue. */
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

  /** A copy for iteration, because preemption changes the original. */
  private snapshotOf(sequences: readonly EngineSequence[]): EngineSequence[] {
    const { scratch } = this;
    truncate(scratch, 0);
    for (const seq of sequences) scratch.push(seq);
    return scratch;
  }
}
