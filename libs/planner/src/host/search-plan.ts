import { NothingKept } from '../candidates/nearest-miss';
import { type PlanQuestion, searchSplits } from '../candidates/search-splits';
import { type PlanResult } from '../candidates/split-result';
import type { PreparedPlan } from '../prepare-plan';
import { assumptionsOf } from '../search/assumed-scenario';
import { nothingKept } from '../search/nothing-kept';
import type { PlanningContext } from '../search/planning-context';
import type { Watch } from '../search/watch';
import { openTaskPool, type TaskPool } from './task-pool';

export interface SearchOptions extends Pick<PlanQuestion, 'mostSimulated'> {
  /** Number of threads that simulate. 1: only the calling thread. */
  readonly threads: number;
  /** Opens a pool that performs the trials instead of threads. */
  readonly openPool?: ((context: PlanningContext) => TaskPool) | undefined;
}

/**
 * The search for the best split, in threads that end before it returns.
 *
 * @throws Failure, one sentence: no split keeps the target, or a run was refused
 */
export async function searchPlan(
  { context, candidates, tokenBudgets }: PreparedPlan,
  { threads, mostSimulated, openPool }: SearchOptions,
  watch: Watch,
): Promise<PlanResult> {
  const { config, target } = context;
  const assumptions = assumptionsOf(config);
  const question = { candidates, assumptions, target, mostSimulated, tokenBudgets };
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
