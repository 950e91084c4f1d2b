// Which Compose a machine has: the one that BATON_COMPOSE names, the plugin (v2), or
// docker-compose.
import { execute } from './shell.mjs';

const WAYS = [['docker', 'compose'], ['docker-compose']];

/**
 * @returns the words that start Compose and its version; undefined without one. Throws when the
 * named one does not run
 */
export async function findCompose(env) {
  const { BATON_COMPOSE: named } = env;
  for (const way of named ? [[named]] : WAYS) {
    const { code, stdout } = await execute([...way, 'version', '--short'], { env });
    if (code === 0) return { way, version: stdout.trim() };
  }
  if (named) throw new Error(`BATON_COMPOSE=${named} does not run.`);
  return undefined;
}
