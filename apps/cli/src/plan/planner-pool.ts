import { type BatonConfig, defaultConfig, UsageError, withoutSecrets } from '@baton/config';
import type { FarmPool } from '@baton/plan-farm';
import type { PlanningContext, TaskPool } from '@baton/planning';

const INTERRUPTED = 130;

/**
 * The pool of `--planners`; undefined without the flag. Ctrl-C removes tasks that no planner has
 * begun.
 *
 * @throws UsageError without a Redis
 */
export async function plannerPool(
  { redis, redisPrefix }: Pick<BatonConfig, 'redis' | 'redisPrefix'>,
  planners: boolean,
): Promise<((context: PlanningContext) => TaskPool) | undefined> {
  if (!planners) return undefined;
  if (redis === undefined) {
    throw new UsageError('--planners needs --redis URL (or REDIS_URL), which the planners share.');
  }
  const { openFarm } = await import('@baton/plan-farm');
  return (context) => {
    const shared = { ...context, config: withoutKeys(context.config) };
    return interruptible(openFarm(shared, { url: redis, prefix: redisPrefix }));
  };
}

/** No key of an API and no password of a Redis lies in the job. */
function withoutKeys(config: BatonConfig): BatonConfig {
  return { ...defaultConfig(), ...withoutSecrets(config) };
}

function interruptible(pool: FarmPool): TaskPool {
  const stop = (): void => {
    void pool.cancel().finally(() => process.exit(INTERRUPTED));
  };
  process.once('SIGINT', stop);
  return {
    run: (tasks, onDone) => pool.run(tasks, onDone),
    close: async () => {
      process.off('SIGINT', stop);
      await pool.close();
    },
  };
}
