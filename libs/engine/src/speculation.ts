import { hashString, mix, unitOf } from '@baton/kernel';
import type { Accounts } from './accounts';
import type { DecodeSet } from './decode-set';
import type { EngineSequence } from './sequence';
import type { SpeculationOptions } from './port/engine-options';

/**
 * Speculative decoding: each decode step drafts k tokens for every sequence and gives out those
 * before the first wrong one, and one more. Whether the draft of a token is right depends on (seed,
 * request, index of the token) alone: neither batch nor engine changes a burst. No index is drawn
 * in two steps, so the draws of different steps are independent.
 */
export class Speculation {
  readonly tokens: number;
  readonly draftUs: number;
  private readonly acceptanceRate: number;
  private readonly seed: number;

  constructor(options: SpeculationOptions, seed: number) {
    this.tokens = options.tokens;
    this.draftUs = options.draftUs ?? 0;
    this.acceptanceRate = options.acceptanceRate;
    this.seed = mix(seed, hashString('speculation'));
  }

  /**
   * Gives the members, whose step has just been counted with one token each, the rest of their
   * bursts.
   */
  giveBursts(decode: DecodeSet, accounts: Accounts): void {
    for (const seq of decode.members) {
      const given = decode.emittedBy(seq);
      const accepted = this.accepted(seq.requestHash, given - 1);
      accounts.drafted(this.tokens, accepted);
      this.give(seq, Math.min(accepted, seq.outputTokens - given), decode);
      accounts.generatedTokens += seq.burst;
    }
  }

  /** Drafted tokens, beginning with the one of index `first`, before the first wrong one. */
  accepted(requestHash: number, first: number): number {
    const key = mix(this.seed, requestHash);
    let accepted = 0;
    while (accepted < this.tokens && unitOf(mix(key, first + accepted)) < this.acceptanceRate) {
      accepted++;
    }
    return accepted;
  }

  private give(seq: EngineSequence, burst: number, decode: DecodeSet): void {
    seq.burst = burst;
    if (burst > 0) decode.skip(seq, burst);
  }
}
