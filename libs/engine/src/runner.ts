import type { Micros } from '@baton/kernel';
import type { Accounts } from './accounts';
import type { BatchFormer } from './batch-former';
import type { DecodeSets } from './decode-set';
import type { StepShare } from './lockstep/lockstep';
import type { EngineSequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import type { Speculation } from './speculation';
import type { StepRecord } from './step-record';
import type { StepScatter } from './step-scatter';
import type { EngineOptions } from './port/engine-options';
import type { WaitingQueue } from './waiting-queue';

export interface RunnerParts {
  readonly options: EngineOptions;
  readonly former: BatchFormer;
  readonly decode: DecodeSets;
  readonly blocks: SequenceBlocks;
  readonly accounts: Accounts;
  readonly record: StepRecord;
  readonly queue: WaitingQueue;
  readonly speculation: Speculation | undefined;
  /** Undefined: steps do not scatter. */
  readonly scatter: StepScatter | undefined;
}

/**
 * Lays steps in time and applies them to the counters. The calls mean what those of the same names
 * mean in EnginePort.
 */
export interface Runner {
  /** Between `begin` and `completeLast`. */
  readonly isUnderWay: boolean;
  /** A batch that was formed ahead waits for its step. */
  readonly hasFormed: boolean;
  /**
   * @throws InvariantError when several steps are under way, whose outcome a change would make
   *   wrong.
   */
  assertMayChange(): void;
  begin(startUs: Micros): Micros | undefined;
  /** These three: as in LockstepRank. */
  form(startUs: Micros): number | undefined;
  endBeside(share: StepShare): Micros;
  endAt(endUs: Micros): void;
  extend(untilUs: Micros, withFirstTokens: boolean): Micros;
  cut(atUs: Micros): Micros;
  /** Applies all but the last of the steps under way: tokens and blocks. */
  completeAllButLast(): void;
  /** Applies the last one; the current decode set is then the one that it stepped. */
  completeLast(): void;
  /** Takes a sequence that has its last token with that step out of the batch. */
  nextFinished(): EngineSequence | undefined;
  /** Ends the chunks of that step: the sequences whose prompt is done, which run no more. */
  endChunks(): readonly EngineSequence[];
  /** Tokens of a running sequence that are counted already and come with the step under way. */
  tokensInFlight(seq: EngineSequence): number;
  boundaryUs(step: number): Micros;
  /**
   * Blocks that the extended step under way has taken by `atUs`, beyond those of its first step and
   * less those given back.
   */
  blocksTakenBy(atUs: Micros | undefined): number;
}

/** The first steps of an engine may take longer: graphs are captured, caches are cold. */
export function warmupFactor({ options, accounts }: RunnerParts): number {
  const { warmupSteps, warmupPenaltyPercent } = options;
  return accounts.steps < warmupSteps ? 1 + warmupPenaltyPercent / 100 : 1;
}
