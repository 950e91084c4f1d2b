import type { Accounts } from './accounts';
import type { Batch, BatchParts } from './batch';
import type { EngineSequence } from './sequence';
import type { StepRecord } from './step-record';
import { isBefore, type WaitingQueue } from './waiting-queue';

export interface PreemptionParts extends BatchParts {
  readonly queue: WaitingQueue;
  readonly record: StepRecord;
  readonly accounts: Accounts;
}

/** Which running sequence gives up its blocks, and what it keeps. The scheduler decides when. */
export class Preemption {
  /** True when batches are formed while the previous one runs. */
  formsAhead = false;
  private readonly queue: PreemptionParts['queue'];
  private readonly decode: PreemptionParts['decode'];
  private readonly record: PreemptionParts['record'];
  private readonly accounts: PreemptionParts['accounts'];
  private readonly blocks: PreemptionParts['blocks'];
  private readonly draftTokens: PreemptionParts['draftTokens'];

  constructor(
    parts: PreemptionParts,
    private readonly batch: Batch,
  ) {
    this.queue = parts.queue;
    this.decode = parts.decode;
    this.record = parts.record;
    this.accounts = parts.accounts;
    this.blocks = parts.blocks;
    this.draftTokens = parts.draftTokens;
  }

  /** The newest sequence (`self.running[-1]`), or the last by the order of the queue. */
  lastInLine(): EngineSequence {
    const { queue } = this;
    let last: EngineSequence | undefined;
    this.batch.forRunning((seq) => {
      if (last === undefined) last = seq;
      else if (queue.preemptsLast ? isBefore(last, seq) : last.rank < seq.rank) last = seq;
    });
    return last!;
  }

  /** Whether a batch in flight has a row of a running sequence, and so writes to its blocks. */
  isInFlight(seq: EngineSequence): boolean {
    if (seq.state === 'prefilling') return seq.inFlight > 0;
    if (seq.state === 'ending' || !this.decode.isCurrent(seq)) return true;
    return this.batch.isAhead && seq.gotToken;
  }

  /**
   * Sends a running sequence back to the queue, to be computed again.
   *
   * @param hadTurn the sequence already had its tokens in this batch. They count as known, as in
   * vLLM, which adds their full blocks to the prefix index at that point
   */
  preempt(victim: EngineSequence, hadTurn: boolean): void {
    const { queue, record, accounts, blocks, draftTokens } = this;
    const generates = victim.state !== 'prefilling' && victim.mode !== 'prefill-and-hold';
    const getsToken = this.batch.isAhead && generates && victim.gotToken;
    if (getsToken && this.isOfStep(victim)) record.departed.push(victim);
    const isInStep = this.isInFlight(victim);
    const hasDrafts = isInStep && draftTokens > 0 && victim.state === 'decoding';
    const ofTurn = hadTurn ? this.knownTokensOf(victim) : 0;
    const known = this.leave(victim, isInStep) + ofTurn;
    blocks.publishOwn(victim, hasDrafts ? victim.blocks.published * blocks.blockSize : known);
    blocks.release(victim);
    victim.computed = 0;
    queue.addPreempted(victim);
    record.preempted.push(victim.handle);
    accounts.preemptions++;
  }

  /**
   * Takes a running sequence out of the batch. Returns the tokens whose full blocks others may
   * find: all computed ones, and the one that a decode step under way computes if it was known when
   * that step was formed. With batches formed ahead it was not: vLLM then leaves it out until the
   * next batch has given the sequence room for a further one.
   *
   * @param isInStep its results of the step under way, or of the one that ends, are not known
   */
  leave(seq: EngineSequence, isInStep: boolean): number {
    const isPrompt = seq.state === 'prefilling' || seq.inFlight > 0;
    const isMember = seq.state === 'decoding';
    const isInFlight = isMember && (isInStep || !this.decode.isCurrent(seq));
    this.batch.drop(seq);
    if (!this.formsAhead) return seq.computed + (isInFlight ? 1 : 0);
    const hasRoom = seq.blocks.length * this.blocks.blockSize > seq.computed;
    const isUnknown = isInStep && !hasRoom && !isPrompt && seq.emitted > 1;
    return seq.computed - (isUnknown ? 1 : 0);
  }

  /** Whether it is one of the batch under way, with pipeline stages the oldest in flight. */
  private isOfStep(seq: EngineSequence): boolean {
    return seq.state === 'ending' || this.decode.isCurrent(seq);
  }

  /**
   * The sequence's tokens in the batch whose values are known: not its drafts, and not the output
   * of the step under way.
   */
  private knownTokensOf(seq: EngineSequence): number {
    if (seq.state === 'prefilling') return seq.chunk;
    return this.decode.isCurrent(seq) && !this.batch.isAhead ? 1 : 0;
  }
}
