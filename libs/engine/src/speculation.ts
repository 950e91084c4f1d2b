import { hashString, mix, unitOf } from '@baton/kernel';
import type { Accounts } from './accounts';
import type { DecodeSet } from './decode-set';
import { type EngineSequence, NO_TOKEN } from './sequence';
import type { SpeculationOptions } from './port/engine-options';

/**
 * Speculative decoding: each decode step drafts k tokens for every sequence and produces those
 * before the first wrong one, and one more. Whether the draft of a token is right depends only on
 * (seed, request, index of the token), so neither batch nor engine changes a burst. No index is
 * drawn in two steps, so the draws of different steps are independent.
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
   * Gives the members, which have just been counted one token each, the rest of their bursts; takes
   * the token back from those that had no row in the step.
   *
   * @returns the sum of the tokens given and taken back
   */
  giveBursts(decode: DecodeSet, accounts: Accounts): number {
    let tokens = 0;
    for (const seq of decode.members) {
      seq.burst = seq.drafts < 0 ? NO_TOKEN : this.burstOf(seq, decode.emittedBy(seq), accounts);
      if (seq.burst !== 0) decode.skip(seq, seq.burst);
      tokens += seq.burst;
    }
    return tokens;
  }

  /** The number of right drafts from index `first` up to the first wrong one. */
  accepted(requestHash: number, first: number): number {
    const key = mix(this.seed, requestHash);
    let accepted = 0;
    while (accepted < this.tokens && unitOf(mix(key, first + accepted)) < this.acceptanceRate) {
      accepted++;
    }
    return accepted;
  }

  private burstOf(seq: EngineSequence, given: number, accounts: Accounts): number {
    const { requestHash, drafts, outputTokens } = seq;
    if (drafts === 0) return 0;
    const accepted = Math.min(drafts, this.accepted(requestHash, given - 1));
    accounts.drafted(drafts, accepted);
    return Math.min(accepted, outputTokens - given);
  }
}
