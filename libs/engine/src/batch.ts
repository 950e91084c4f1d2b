import { truncate } from '@baton/kernel';
import type { BatchAggregates } from '@baton/step-time';
import type { DecodeSets } from './decode-set';
import { type EngineSequence, NO_TOKEN } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import type { EngineOptions } from './port/engine-options';
import type { SequenceHandle } from './port/engine-port';

export interface BatchParts {
  readonly options: EngineOptions;
  readonly decode: DecodeSets;
  readonly blocks: SequenceBlocks;
  /** Tokens drafted per decoding sequence and step. */
  readonly draftTokens: number;
}

/** The sums over an engine's own batch. */
export type BatchSums = {
  -readonly [K in Exclude<keyof BatchAggregates, 'expertTokens'>]-?: number;
};

export function emptySums(): BatchSums {
  return {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    draftTokens: 0,
    kvUsage: 0,
  };
}

/**
 * The batch of a step while it is formed and afterwards: its sequences beside the decode set, and
 * the rest of the token budget. It decides nothing: the batch former adds running sequences, the
 * admitter waiting ones.
 */
export class Batch {
  /** Running sequences with a part of their prompt not yet in KV, in order of admission. */
  readonly prefilling: EngineSequence[] = [];
  /**
   * Sequences admitted by this batch whose KV came from elsewhere: they decode from their first
   * step on.
   */
  readonly joined: EngineSequence[] = [];
  /**
   * Sequences outside of it that keep their slots and blocks until the step under way has brought
   * their last tokens.
   */
  readonly ending: EngineSequence[] = [];
  /**
   * Decoding sequences that the batch leaves out: the one that lacks blocks, and those behind it.
   */
  readonly stalled: EngineSequence[] = [];
  /** Members of the decode set that were not in the previous batch. */
  readonly resumed: EngineSequence[] = [];
  chunkTokens = 0;
  /** True when the batch leaves out all decoding sequences. */
  isOfPrompts = false;
  /** Tokens of empty drafts. */
  paddingTokens = 0;
  /** With drafts: tokens of decoding sequences. */
  draftedTokens = 0;
  /** Time for which it loads KV from host memory. */
  loadUs = 0;
  /** Tokens of the budget that each decoding sequence takes. */
  readonly stepTokens: number;
  /** `long_prefill_token_threshold` of this step. */
  private threshold = 0;
  private readonly slots: number;
  /** Context length beyond which nothing is drafted. */
  readonly draftLimit: number;
  /** Context length beyond which the drafter gets no blocks. */
  private readonly slotLimit: number;
  private readonly sums = emptySums();

  constructor(private readonly parts: BatchParts) {
    const { maxNumSeqs, maxNumBatchedTokens, maxModelLen, numBlocks } = parts.options;
    const longest = parts.blocks.layout.longest(numBlocks);
    this.stepTokens = 1 + parts.draftTokens;
    this.draftLimit = Math.min(maxModelLen - 1, longest);
    this.slotLimit = Math.min(maxModelLen, longest);
    this.slots = Math.min(maxNumSeqs, Math.floor(maxNumBatchedTokens / this.stepTokens));
  }

  get running(): number {
    const besides = this.prefilling.length + this.ending.length + this.stalled.length;
    return this.parts.decode.size + besides;
  }

  /** Tokens of the decoding sequences of the batch; above 0 when anything decodes in it. */
  get rows(): number {
    const { decode, draftTokens } = this.parts;
    if (this.isOfPrompts) return this.chunkTokens;
    return this.chunkTokens + (draftTokens > 0 ? this.draftedTokens : decode.current.size);
  }

  /** Whether the batch has only prompts while decoding sequences wait for the next one. */
  get leavesOutAny(): boolean {
    return this.isOfPrompts && this.parts.decode.current.size + this.stalled.length > 0;
  }

  get isFull(): boolean {
    return this.running >= this.slots;
  }

  /**
   * Begins a new step. The threshold for long prompts is off when a sequence is alone, because it
   * delays no other.
   */
  clear(isAlone: boolean): void {
    this.chunkTokens = 0;
    this.paddingTokens = 0;
    this.loadUs = 0;
    this.threshold = isAlone ? 0 : this.parts.options.longPrefillTokenThreshold;
    truncate(this.joined, 0);
  }

  /** Tokens left in the budget, without those set aside for decoding sequences and their drafts. */
  budget(): number {
    return this.parts.options.maxNumBatchedTokens - this.rows - this.paddingTokens;
  }

  /** Tokens that the sequence would compute in one step if only its own options limited it. */
  wanted(seq: EngineSequence, computed: number): number {
    const rest = seq.targetTokens - computed;
    return this.threshold > 0 ? Math.min(rest, this.threshold) : rest;
  }

  /** Leading tokens of a sequence that need blocks in a step after which `tokens` are computed. */
  slotsFor(tokens: number): number {
    return Math.max(tokens, Math.min(tokens + this.parts.blocks.lookahead, this.slotLimit));
  }

  /**
   * Gives a decoding sequence its row with drafts: its next token and those of the draft, limited
   * by the model's context and the free blocks.
   *
   * @param isAhead the step under way has not ended, so all of its drafts can still be accepted
   */
  draftFor(seq: EngineSequence, isAhead: boolean): void {
    const known = this.parts.decode.current.contextOf(seq);
    const context = isAhead && seq.drafts >= 0 ? known + seq.drafts - seq.burst : known;
    const end = Math.min(context + this.stepTokens, this.draftLimit);
    seq.drafts = end - context - 1;
    seq.reach = end;
  }

  /** Leaves a row with at most `tokens` tokens to a decoding sequence. */
  cutDrafts(seq: EngineSequence, tokens: number): void {
    const more = Math.max(0, this.tokensOf(seq) - tokens);
    seq.drafts -= more;
    seq.reach -= more;
  }

  tokensOf(seq: EngineSequence): number {
    if (seq.state !== 'decoding') return seq.chunk + seq.padding;
    return 1 + seq.drafts;
  }

  /** Removes a sequence that does not decode. */
  drop(seq: EngineSequence): void {
    const list = this.listOf(seq);
    list.splice(list.indexOf(seq), 1);
    this.chunkTokens -= seq.chunk;
    seq.chunk = 0;
    seq.inFlight = 0;
  }

  /** Leaves a decoding sequence without a row in the batch; it keeps running. */
  stall(seq: EngineSequence): void {
    this.parts.decode.current.leave(seq);
    seq.state = 'stalled';
    this.stalled.push(seq);
  }

  /** The same for all of them. */
  stallAll(): void {
    truncate(this.resumed, 0);
    // The step under way already leaves these sequences out.
    for (const seq of this.stalled) seq.burst = NO_TOKEN;
    for (const seq of [...this.parts.decode.current.members]) this.stall(seq);
  }

  /** Resumes the sequences that were left out of the previous batch. */
  resume(): void {
    truncate(this.resumed, 0);
    for (const seq of this.stalled) {
      this.parts.decode.current.resume(seq);
      this.resumed.push(seq);
    }
    truncate(this.stalled, 0);
  }

  /**
   * Sums over the batch, written to `sums`. A sequence with one new token is a decode, as in vLLM's
   * attention kernels.
   */
  aggregates(sums = this.sums): BatchAggregates {
    const { blocks, draftTokens } = this.parts;
    const decode = this.parts.decode.current;
    sums.prefillTokens = sums.prefillSeqs = sums.prefillQuadratic = sums.prefillContext = 0;
    sums.decodeSeqs = decode.size;
    sums.decodeContext = decode.contextTokens + decode.size;
    sums.draftTokens = 0;
    if (draftTokens > 0) this.addDrafts(sums);
    sums.kvUsage = blocks.pool.usage;
    for (const seq of this.prefilling) {
      if (seq.chunk > 1 || seq.computed === 0) addChunk(seq, sums);
      else if (seq.chunk === 1) {
        sums.decodeSeqs++;
        sums.decodeContext += seq.computed + 1;
      }
    }
    return sums;
  }

  /** Its sequences and their tokens, in order of admission, for tests. O(batch). */
  members(): (readonly [SequenceHandle, tokens: number])[] {
    const rows = [...this.parts.decode.current.members, ...this.prefilling];
    const inOrder = rows.sort((a, b) => a.rank - b.rank);
    return inOrder
      .map((seq) => [seq.handle, this.tokensOf(seq)] as const)
      .filter(([, tokens]) => tokens > 0);
  }

  private listOf({ state }: EngineSequence): EngineSequence[] {
    if (state === 'ending') return this.ending;
    return state === 'stalled' ? this.stalled : this.prefilling;
  }

  /** Sequences without a row in the batch do not count. */
  private addDrafts(sums: BatchSums): void {
    const decode = this.parts.decode.current;
    for (const seq of decode.members) {
      if (seq.drafts >= 0) continue;
      sums.decodeSeqs--;
      sums.decodeContext -= decode.contextOf(seq) + 1;
    }
    sums.draftTokens = this.draftedTokens - sums.decodeSeqs;
  }
}

function addChunk({ chunk, computed }: EngineSequence, sums: BatchSums): void {
  if (chunk === 0) return;
  sums.prefillTokens += chunk;
  sums.prefillSeqs++;
  sums.prefillQuadratic += chunk * (2 * computed + chunk);
  sums.prefillContext += computed;
}
