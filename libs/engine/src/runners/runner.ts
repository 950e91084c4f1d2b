import type { Micros } from '@baton/kernel';
import type { StepScatter } from '@baton/step-time';
import type { Accounts } from '../accounts';
import type { Scheduler } from '../scheduler';
import type { DecodeSets } from '../decode-set';
import type { StepShare } from '../lockstep/lockstep';
import type { EngineSequence } from '../sequence';
import type { SequenceBlocks } from '../sequence-blocks';
import type { Speculation } from '../speculation';
import type { StepRecord } from '../step-record';
import type { EngineOptions } from '../port/engine-options';
import type { WaitingQueue } from '../waiting-queue';

export interface RunnerParts {
  readonly options: EngineOptions;
  readonly former: Scheduler;
  readonly decode: DecodeSets;
  readonly blocks: SequenceBlocks;
  readonly accounts: Accounts;
  readonly record: StepRecord;
  readonly queue: WaitingQueue;
  readonly speculation: Speculation | undefined;
  /** Undefined when steps do not scatter. */
  readonly scatter: StepScatter | undefined;
}

/**
 * Lays steps in time and applies them to the counters. The calls mean what those of the same names
 * mean in EnginePort.
 */
export interface Runner {
  /** True between `begin` and `completeLast`. */
  readonly isUnderWay: boolean;
  /** True when a batch that was formed ahead waits for its step. */
  readonly hasFormed: boolean;
  /**
   * @throws InvariantError when several steps are under way, because a change would invalidate
   * them.
   */
  assertMayChange(): void;
  begin(startUs: Micros): Micros | undefined;
  /** These three are as in LockstepRank. */
  form(startUs: Micros): number | undefined;
  endBeside(share: StepShare): Micros;
  endAt(endUs: Micros): void;
  extend(untilUs: Micros, withFirstTokens: boolean): Micros;
  cut(atUs: Micros): Micros;
  /** Applies all but the last of the steps under way: tokens and blocks. */
  completeAllButLast(): void;
  /** Applies the last step; the current decode set is then the one of that step. */
  completeLast(): void;
  /** Takes a sequence that got its last token in that step out of the batch. */
  nextFinished(): EngineSequence | undefined;
  /**
   * Ends the chunks of that step; returns the sequences whose prompt is done and that no longer
   * run.
   */
  endChunks(): readonly EngineSequence[];
  /** Tokens of a running sequence that are already counted and come with the step under way. */
  tokensInFlight(seq: EngineSequence): number;
  boundaryUs(step: number): Micros;
  /**
   * Blocks that the extended step under way has taken by `atUs`, beyond those of its first step and
   * less those freed.
   */
  blocksTakenBy(atUs: Micros | undefined): number;
}

/**
 * Factor for the first steps of an engine, which may take longer: graphs are captured, caches are
 * cold.
 */
export function warmupFactor({ options, accounts }: RunnerParts): number {
  const { warmupSteps, warmupPenaltyPercent } = options;
  return accounts.steps < warmupSteps ? 1 + warmupPenaltyPercent / 100 : 1;
}
