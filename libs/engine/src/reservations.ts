import type { Batch, BatchParts } from './batch';
import type { EngineSequence } from './sequence';
import type { WaitingQueue } from './waiting-queue';

export interface ReservationParts extends BatchParts {
  readonly queue: WaitingQueue;
}

/**
 * Sequences whose KV comes from elsewhere and that hold blocks for it, and the blocks that must
 * stay free for sequences under way.
 */
export class Reservations {
  /** Sequences that got blocks for KV from elsewhere and have not been reported yet. */
  readonly reserved: EngineSequence[] = [];
  /** Sequences whose KV is on its way. */
  deferred = 0;
  /** Waiting sequences whose adapter had no place in the last batch. */
  passedOver = 0;
  /** Σ over sequences whose KV is on its way, or waits for a slot. */
  private owedBlocks = 0;
  /** Tokens that a decode step with drafts needs blocks for; 0 without drafts. */
  private readonly draftSlots: number;
  /** Blocks that one more draft may need (`_spec_decode_step_blocks`). */
  private readonly draftBlocks: number;
  private readonly queue: ReservationParts['queue'];
  private readonly blocks: ReservationParts['blocks'];

  constructor(
    parts: ReservationParts,
    private readonly batch: Batch,
  ) {
    this.queue = parts.queue;
    this.blocks = parts.blocks;
    const { draftTokens, blocks } = parts;
    this.draftSlots = draftTokens > 0 ? 1 + draftTokens + blocks.lookahead : 0;
    this.draftBlocks = blocks.layout.needed(this.draftSlots);
  }

  /** Records that a sequence got its blocks and awaits its KV. */
  add(seq: EngineSequence): void {
    seq.state = 'deferred';
    this.deferred++;
    this.owe(seq);
    this.reserved.push(seq);
  }

  /** Keeps the blocks free that the sequence still needs, until it runs or leaves. */
  owe(seq: EngineSequence): void {
    this.settle(seq);
    this.owedBlocks += seq.owedBlocks = this.remainingOf(seq);
  }

  /**
   * Called when a sequence with blocks runs or leaves; no blocks are kept free for it from then on.
   */
  settle(seq: EngineSequence): void {
    this.owedBlocks -= seq.owedBlocks;
    seq.owedBlocks = 0;
  }

  /**
   * Makes the sequence compute the tokens whose KV will not arrive. It keeps the blocks that are
   * reserved for them until it is scheduled.
   */
  loseKv(seq: EngineSequence): void {
    const { queue } = this;
    const isReserved = seq.state === 'deferred';
    if (isReserved) this.forgetReserved(seq);
    else queue.remove(seq);
    seq.remoteTokens = 0;
    queue.add(seq, isReserved ? 'ready' : 'waiting');
  }

  /** Removes a sequence whose KV is no longer awaited, or that leaves. */
  forgetReserved(seq: EngineSequence): void {
    if (seq.state === 'deferred') this.deferred--;
    const at = this.reserved.indexOf(seq);
    if (at >= 0) this.reserved.splice(at, 1);
  }

  /**
   * Blocks that sequences under way still need, including those whose KV is on its way
   * (`_inflight_prefill_reserved_blocks`). A reservation leaves them free, because it frees no
   * block itself until its KV has arrived.
   *
   * @param but  sequences of the batch that need no further blocks
   */
  blocksUnderWay(but: readonly EngineSequence[]): number {
    let owed = this.owedBlocks + this.draftBlocks;
    for (const seq of this.batch.prefilling) {
      if (!but.includes(seq)) owed += this.remainingOf(seq);
    }
    return owed;
  }

  /** Blocks that a sequence lacks for all of its tokens (`_request_remaining_blocks`). */
  private remainingOf({ targetTokens, blocks }: EngineSequence): number {
    return this.blocks.layout.lackingWhole(targetTokens + this.draftSlots, blocks.length);
  }
}
