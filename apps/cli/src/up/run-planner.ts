import { once } from 'node:events';
import { startPlanner } from '@baton/planner';

/**
 * `baton up --role planner`: runs trials of `baton plan --planners` until a stop signal. Returns
 * the exit code.
 */
export async function runPlanner(url: string, prefix: string): Promise<number> {
  const planner = startPlanner({ url, prefix }, (line) => process.stderr.write(`${line}\n`));
  process.stderr.write('baton: planner is ready for trials; start one planner per core\n');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await planner.close();
  return 0;
}
