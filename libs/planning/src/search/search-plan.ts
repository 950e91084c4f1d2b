import { NothingKept, type PlanQuestion, type PlanResult, searchSplits } from '@baton/planner';
import type { PreparedPlan } from '../prepare-plan';
import { assumptionsOf } from './assumed-scenario';
import { nothingKept } from './nothing-kept';
import type { PlanningContext } from './planning-context';
import { openTaskPool, type TaskPool } from './task-pool';

export interface SearchOptions extends Pick<PlanQuestion, 'mostSimulated'> {
  /** Threads that simulate, this one if it is 1. */
  readonly threads: number;
  /** Performs the trials in the place of threads. */
  readonly openPool?: ((context: PlanningContext) => TaskPool) | undefined;
}

/** Reports progress: tasks done, and tasks in all. */
export type Watch = <T>(
  what: string,
  work: (onProgress: (done: number, whole: number) => void) => Promise<T>,
) => Promise<T>;

/**
 * The search for the best split, in threads that have ended when it returns.
 *
 * @throws Failure, one sentence: nothing keeps the target, or a run was refused
 */
export async function searchPlan(
  { context, candidates }: PreparedPlan,
  { threads, mostSimulated, openPool }: SearchOptions,
  watch: Watch,
): Promise<PlanResult> {
  const { config, target } = context;
  const question = { candidates, assumptions: assumptionsOf(config), target, mostSimulated };
  const pool = openPool?.(context) ?? openTaskPool(context, threads);
  try {
    return await searchSplits(question, (stage, tasks) =>
      watch(stage, (onProgress) => pool.run(tasks, (done) => onProgress(done, tasks.length))),
    );
  } catch (error) {
    throw error instanceof NothingKept ? nothingKept(error, target) : error;
  } finally {
    await pool.close();
  }
}
