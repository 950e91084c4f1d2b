import type { Candidate } from './candidates';
import type { PlanTask, TaskResult } from './plan-task';
import type { RunProfile } from './run-profile';
import type { SplitResult } from './split-result';

/** A run with its profile. */
export interface Explained {
  readonly result: TaskResult;
  readonly profile: RunProfile;
}

/** A split beside the winner at the winner's highest rate. */
export interface Explanation {
  readonly split: SplitResult;
  /** Undefined: the split is the winner itself. */
  readonly runs: { readonly split: Explained; readonly winner: Explained } | undefined;
}

export interface ExplanationPlan {
  /** The task that profiles a split at a rate. */
  readonly taskOf: (split: Candidate, rate: number) => PlanTask;
  /** Results in the order of the tasks. Undefined: the time is over. */
  readonly run: (tasks: readonly PlanTask[]) => Promise<readonly (TaskResult | undefined)[]>;
}

/** Undefined: the time is over. */
export async function explain(
  split: SplitResult,
  winner: SplitResult,
  { taskOf, run }: ExplanationPlan,
): Promise<Explanation | undefined> {
  if (split.name === winner.name) return { split, runs: undefined };
  const { rate } = winner.measured!;
  const [own, best] = await run([split, winner].map((one) => taskOf(one.split, rate)));
  if (own?.profile === undefined || best?.profile === undefined) return undefined;
  return {
    split,
    runs: {
      split: { result: own, profile: own.profile },
      winner: { result: best, profile: best.profile },
    },
  };
}
