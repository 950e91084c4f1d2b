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
 * The batch of a step while it is formed and afterwards: its sequences beside the decode set. It
 * decides nothing; the scheduler fills it.
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
  /** Sequences that were admitted and have not left. */
  running = 0;
  /** Tokens of prompts. */
  chunkTokens = 0;
  /** Time for which it loads KV from host memory. */
  loadUs = 0;
  /** Whether it is formed while the step before is under way, whose tokens are not known yet. */
  isAhead = false;
  private readonly sums = emptySums();
  private readonly decode: BatchParts['decode'];
  private readonly blocks: BatchParts['blocks'];
  private readonly draftTokens: BatchParts['draftTokens'];

  constructor(parts: BatchParts) {
    this.decode = parts.decode;
    this.blocks = parts.blocks;
    this.draftTokens = parts.draftTokens;
  }

  /** Visits the running sequences, except those that are left out, in no particular order. */
  forRunning(visit: (seq: EngineSequence) => void): void {
    for (const { members } of this.decode.all) members.forEach(visit);
    this.prefilling.forEach(visit);
    this.ending.forEach(visit);
  }

  /** Begins the batch of a new step. */
  begin(isAhead: boolean): void {
    this.isAhead = isAhead;
    this.chunkTokens = 0;
    this.loadUs = 0;
    truncate(this.joined, 0);
  }

  /** Removes a sequence, which runs no more. */
  drop(seq: EngineSequence): void {
    this.running--;
    if (seq.state === 'decoding') {
      this.decode.of(seq).leave(seq);
      return;
    }
    const list = this.listOf(seq);
    list.splice(list.indexOf(seq), 1);
    this.chunkTokens -= seq.chunk;
    seq.chunk = 0;
    seq.inFlight = 0;
  }

  /** Leaves a decoding sequence without a row in the batch; it keeps running. */
  stall(seq: EngineSequence): void {
    this.decode.current.leave(seq);
    seq.state = 'stalled';
    this.stalled.push(seq);
  }

  /** The same for all of them. */
  stallAll(): void {
    truncate(this.resumed, 0);
    // The step under way already leaves these sequences out.
    for (const seq of this.stalled) seq.burst = NO_TOKEN;
    for (const seq of [...this.decode.current.members]) this.stall(seq);
  }

  /** Resumes the sequences that were left out of the previous batch. */
  resume(): void {
    if (this.resumed.length + this.stalled.length === 0) return;
    truncate(this.resumed, 0);
    for (const seq of this.stalled) {
      this.decode.current.resume(seq);
      this.resumed.push(seq);
    }
    truncate(this.stalled, 0);
  }

  /** Tokens of a running sequence that the batch computes. */
  tokensOf(seq: EngineSequence): number {
    return seq.state === 'decoding' ? 1 + seq.drafts : seq.chunk + seq.padding;
  }

  /**
   * Sums over the batch, written to `sums`. A sequence with one new token is a decode, as in vLLM's
   * attention kernels.
   */
  aggregates(sums = this.sums): BatchAggregates {
    const { blocks, draftTokens } = this;
    const decode = this.decode.current;
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
    const rows = [...this.decode.current.members, ...this.prefilling];
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
    const decode = this.decode.current;
    for (const seq of decode.members) {
      if (seq.hasRow) sums.draftTokens += seq.drafts;
      else {
        sums.decodeSeqs--;
        sums.decodeContext -= decode.contextOf(seq) + 1;
      }
    }
  }
}

function addChunk({ chunk, computed }: EngineSequence, sums: BatchSums): void {
  if (chunk === 0) return;
  sums.prefillTokens += chunk;
  sums.prefillSeqs++;
  sums.prefillQuadratic += chunk * (2 * computed + chunk);
  sums.prefillContext += computed;
}
