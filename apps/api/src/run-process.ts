import cluster from 'node:cluster';
import { configFromEnv, UsageError } from '@baton/config';
import { reasonOf } from '@baton/kernel';
import { TopologyError } from '@baton/policies';
import { apiProcessesOf } from './processes/count';

/**
 * Runs this process by its configuration (`configFromEnv`): as the API, or as the parent of
 * several API processes. Each loads only its own code.
 */
export async function runProcess(): Promise<void> {
  try {
    const config = configFromEnv();
    const count = apiProcessesOf(config);
    if (count > 1 && cluster.isPrimary) {
      const { runPrimary } = await import('./processes/primary');
      await runPrimary(config, count);
    } else {
      const { runApi } = await import('./run-api');
      await runApi(config);
    }
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    const isWrongUsage = error instanceof UsageError || error instanceof TopologyError;
    process.exit(isWrongUsage ? 2 : 1);
  }
}
