import { type BatonConfig, configToJson, UsageError } from '@baton/config';
import { checkEngines, claimPort, entryOf, NO_ENGINES, WARM_UP } from '@baton/supervisor';
import { obtainBroker } from './broker';
import { withHealthFile } from './health-file';

/**
 * `baton up --role`: runs this process as one role of a cluster, with other processes on the same
 * Redis. The process that starts it must restart it when it ends.
 */
export async function runRole(config: BatonConfig): Promise<number> {
  const { role, redis } = config;
  if (role === undefined || redis === undefined) {
    throw new UsageError(
      '--role needs a Redis shared by all roles. Add --redis URL (or REDIS_URL).',
    );
  }
  if (config.broker === 'in-process') {
    throw new UsageError('--broker in-process runs all roles in one process. Remove --role.');
  }
  if (role === 'planner') {
    const { runPlanner } = await import('./run-planner');
    return runPlanner(redis, config.redisPrefix);
  }
  checkEngines(config, role === 'api' ? NO_ENGINES : { ...NO_ENGINES, [role]: 1 });
  if (config.changes !== undefined) {
    process.stderr.write(
      'baton: changes has no effect with --role; it needs a cluster started by one baton up.\n',
    );
  }
  const port = role === 'api' ? await claimPort(config) : config.port;
  const broker = await obtainBroker(config, (line) => process.stderr.write(`${line}\n`));
  await broker.close();
  process.env['BATON_CONFIG'] = configToJson(await withHealthFile({ ...config, port }));
  // The flags of a supervised process, which the compiled code of its bundle needs.
  await import(WARM_UP);
  await import(entryOf(role));
  return 0;
}
