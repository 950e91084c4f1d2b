import type { StepFacts } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import type { TakenJob } from '@baton/transport';
import type { Run } from './runs/run';

/**
 * The ways of a run through an engine. The apps have them: apps/prefill/src/prefill-way.ts and
 * apps/decode/src/decode-way.ts. Each engine has both, because the flow of a job decides which
 * stage it needs.
 */
export abstract class PrefillStage {
  /** A job of this stage has come from a queue. */
  abstract take(taken: TakenJob): void;
  /** The engine has computed the prompt, and holds its blocks since `heldUs`. */
  abstract hold(run: Run, heldUs: Micros): void;
}

/** Runs that generate tokens: of decode, and aggregated ones that compute their prompt as well. */
export abstract class DecodeStage {
  /** A job of this stage has come from a queue. */
  abstract take(taken: TakenJob): void;
  /** The number of runs that wait for blocks. Above a limit the engine takes no more jobs. */
  abstract readonly waitingForRoom: number;
  /** A step has begun at `startUs`, or could not. True: a run got blocks for its KV. */
  abstract fetch(startUs: Micros): boolean;
  /** A step has ended: its tokens are due. */
  abstract step(facts: StepFacts): void;
}
