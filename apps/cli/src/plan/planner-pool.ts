import { type BatonConfig, defaultConfig, UsageError, withoutSecrets } from '@baton/config';
import type { FarmPool, PlanningContext, TaskPool } from '@baton/planner';

const INTERRUPTED = 130;

/**
 * The pool of `--planners`. Undefined: the flag is not given. Ctrl-C removes tasks that no planner
 * has begun.
 *
 * @throws UsageError without a Redis
 */
export async function plannerPool(
  { redis, redisPrefix }: Pick<BatonConfig, 'redis' | 'redisPrefix'>,
  planners: boolean,
): Promise<((context: PlanningContext) => TaskPool) | undefined> {
  if (!planners) return undefined;
  if (redis === undefined) {
    throw new UsageError('--planners needs the planners’ Redis. Add --redis URL (or REDIS_URL).');
  }
  const { openFarm } = await import('@baton/planner');
  return (context) => {
    const shared = { ...context, config: withoutKeys(context.config) };
    return interruptible(openFarm(shared, { url: redis, prefix: redisPrefix }));
  };
}

/** The configuration without API keys and Redis passwords, which must not be in a job. */
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
