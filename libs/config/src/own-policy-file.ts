import { type OwnSpec, type PolicyStage, readOwnModule } from '@baton/policies';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { placeIn } from './place-in-file';
import { UsageError } from './usage-error';

/**
 * A policy from a user's ES module, by a path from the working directory. The module runs in this
 * process, with all its rights. A second call does not read the file again.
 *
 * @param method that its policies must have
 * @param stages that it decides on; those of requests by default
 * @throws UsageError with one sentence for a file that is missing, does not load, or exports no
 *   policy
 */
export function ownPolicy<Policy>(
  path: string,
  method: keyof Policy & string,
  stages?: readonly PolicyStage[],
): OwnSpec<Policy> {
  const file = resolve(path);
  if (!existsSync(file)) throw new UsageError(`The policy ${path} does not exist.`);
  const read = readOwnModule<Policy>(load(path, file), method, stages);
  if ('problem' in read) throw new UsageError(`The policy ${path}${read.problem}`);
  const { module } = read;
  const placeOf = (method: unknown): string | undefined => placeIn(file, [method, module.create]);
  return { kind: 'own', path, module, placeOf };
}

function load(path: string, file: string): unknown {
  try {
    return createRequire(file)(file) as unknown;
  } catch (error) {
    throw new UsageError(`The policy ${path} does not load: ${whyNot(error, file)}.`);
  }
}

function whyNot(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const isAsync = 'code' in error && error.code === 'ERR_REQUIRE_ASYNC_MODULE';
  if (isAsync) return 'it uses await outside of a function';
  const [message = ''] = error.message.split('\n');
  return error instanceof SyntaxError ? `${message}${findErrorLine(file)}` : message;
}

/** Node reports the line of a syntax error only when it checks the file. */
function findErrorLine(file: string): string {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
  const line = /:(\d+)\r?\n/.exec(stderr)?.[1];
  return line === undefined ? '' : ` in line ${line}`;
}
