import { assert, type Micros } from '@baton/kernel';
import type { StepTimeModel } from '@baton/step-time';

/** The effect of the other ranks on one rank in a common step. */
export interface StepShare {
  /** Empty tokens that fill its batch up to the largest of all ranks. */
  readonly paddingTokens: number;
  /** Tokens that the shared experts get per rank: a mean, possibly with a fraction. */
  readonly expertTokens: number;
}

/** Options that each rank's engine has too. */
export interface LockstepOptions {
  readonly stepTime: StepTimeModel;
  /** Unset: 512. */
  readonly maxCudagraphCaptureSize?: number | undefined;
}

/** One of the data-parallel ranks whose steps begin and end together. */
export interface LockstepRank {
  /**
   * Forms the batch of the step that begins at `startUs`; it has no end yet. Returns the tokens of
   * the batch, 0 when the step only rejects sequences, or undefined when nothing can run.
   */
  formStep(startUs: Micros): number | undefined;
  /** End of that step if this rank ran alone. */
  stepEndBeside(share: StepShare): Micros;
  /** Sets the end of the step; `endStep` may follow. */
  endStepAt(endUs: Micros): void;
  /** Whether a request waits, runs, or waits for its KV here. Held KV does not count. */
  isUnfinished(): boolean;
}

/** vLLM's largest graph with 256 sequences or more; Baton has no data about other frameworks. */
const DEFAULT_MAX_GRAPH_TOKENS = 512;
/**
 * Interval in steps at which ranks agree whether any has a request left
 * (`DPEngineCoreProc._has_global_unfinished_reqs` of `vllm/v1/engine/core.py`).
 */
const STEPS_PER_AGREEMENT = 32;
/** The batch of a rank without work (`execute_dummy_batch`). */
const DUMMY_TOKENS = 1;
/** Stands in `tokens` for a rank without a step. */
const NO_STEP = -1;

/**
 * The ranks of one mixture-of-experts engine, as vLLM's `DPEngineCoreProc.run_busy_loop` runs them:
 * a step begins for all of them at once and ends when the slowest is done, because they exchange
 * tokens in every layer. Ranks without work run a dummy batch beside the others. While no rank has
 * anything to run, dummy steps follow each other until the ranks agree that no request is left;
 * requests that come meanwhile wait for the end of the dummy step under way. Dummy steps are
 * counted here and never carried out. Reads no clock.
 */
export class Lockstep {
  private readonly ranks: LockstepRank[] = [];
  /** Tokens of each rank in the step being formed, or `NOTHING`. */
  private readonly tokens: number[] = [];
  private readonly share = { paddingTokens: 0, expertTokens: 0 };
  private dummyUs: Micros | undefined;
  /** Steps since the ranks last stopped, dummy steps included. */
  private steps = 0;
  /** Start of the dummy steps. */
  private restFromUs: Micros = -Infinity;
  private restSteps = 0;
  /**
   * Largest batch in a CUDA graph. While all ranks run graphs, each is padded to the largest rank
   * (`_post_process_dp_padding` of `vllm/v1/worker/dp_utils.py`). One larger batch makes all ranks
   * run without graphs.
   */
  private readonly maxGraphTokens: number;
  private readonly stepTime: StepTimeModel;

  /** @param size ranks of the engine, >= 2; ranks that have not been added count as idle */
  constructor(
    private readonly size: number,
    options: LockstepOptions,
  ) {
    assert(size >= 2, 'ranks in lockstep are at least two');
    this.stepTime = options.stepTime;
    this.maxGraphTokens = options.maxCudagraphCaptureSize ?? DEFAULT_MAX_GRAPH_TOKENS;
  }

  add(rank: LockstepRank): void {
    assert(this.ranks.length < this.size, 'the engine has no further rank');
    this.ranks.push(rank);
    this.tokens.push(NO_STEP);
  }

  /** The first instant at or after `atUs` at which a step can begin, when none is under way. */
  boundaryAfter(atUs: Micros): Micros {
    const pastUs = atUs - this.restFromUs;
    if (pastUs <= 0) return this.restFromUs;
    const steps = this.dummyStepsIn(pastUs);
    return steps <= this.restSteps ? this.restFromUs + steps * this.lengthOfDummy() : atUs;
  }

  /**
   * Begins the step of all ranks at a boundary. Returns its end, or undefined when no rank can run
   * anything.
   */
  begin(startUs: Micros): Micros | undefined {
    this.countRest(startUs);
    const { ranks, tokens } = this;
    let most = NO_STEP;
    let sum = DUMMY_TOKENS * (this.size - ranks.length);
    for (let i = 0; i < ranks.length; i++) {
      const own = ranks[i]!.formStep(startUs) ?? NO_STEP;
      tokens[i] = own;
      most = Math.max(most, own);
      sum += Math.max(DUMMY_TOKENS, own);
    }
    if (most === NO_STEP) {
      this.rest(startUs);
      return undefined;
    }
    this.steps++;
    return this.endTogether(startUs, { most, mean: sum / this.size });
  }

  private endTogether(startUs: Micros, { most, mean }: { most: number; mean: number }): Micros {
    const { ranks, tokens, share } = this;
    const isPadded = most <= this.maxGraphTokens;
    share.expertTokens = isPadded ? most : mean;
    let endUs = startUs;
    for (let i = 0; i < ranks.length; i++) {
      if (tokens[i] === NO_STEP) continue;
      share.paddingTokens = isPadded ? most - tokens[i]! : 0;
      endUs = Math.max(endUs, ranks[i]!.stepEndBeside(share));
    }
    for (let i = 0; i < ranks.length; i++) {
      if (tokens[i] !== NO_STEP) ranks[i]!.endStepAt(endUs);
    }
    this.restFromUs = endUs;
    return endUs;
  }

  /** Starts dummy steps from here until the next agreement that no request is left. */
  private rest(fromUs: Micros): void {
    const isUnfinished = this.ranks.some((rank) => rank.isUnfinished());
    const sinceAgreed = this.steps % STEPS_PER_AGREEMENT;
    const untilAgreed = sinceAgreed === 0 ? 0 : STEPS_PER_AGREEMENT - sinceAgreed;
    this.restFromUs = fromUs;
    this.restSteps = isUnfinished ? Infinity : untilAgreed;
  }

  /** Counts the dummy steps before a step; after the last of them the count starts again. */
  private countRest(startUs: Micros): void {
    const pastUs = startUs - this.restFromUs;
    const steps = pastUs <= 0 ? 0 : this.dummyStepsIn(pastUs);
    this.steps = steps <= this.restSteps ? this.steps + steps : 0;
    this.restSteps = 0;
  }

  private dummyStepsIn(us: Micros): number {
    return Math.ceil(us / this.lengthOfDummy());
  }

  private lengthOfDummy(): Micros {
    this.dummyUs ??= Math.max(1, Math.round(this.stepTime.stepUs(DUMMY_BATCH)));
    return this.dummyUs;
  }
}

const DUMMY_BATCH = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: DUMMY_TOKENS,
  decodeContext: DUMMY_TOKENS,
  draftTokens: 0,
  kvUsage: 0,
};
