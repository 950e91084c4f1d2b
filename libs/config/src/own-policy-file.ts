import { isObject, RandomStream } from '@baton/kernel';
import type { EngineRole, OwnPolicyModule, OwnPolicySpec } from '@baton/placement';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { UsageError } from './usage-error';

const STAGES: readonly EngineRole[] = ['prefill', 'decode', 'aggregated'];

/**
 * A placement policy from an ES module of the user's, by a path from the working directory. The
 * module runs in this process, with all its rights. A second call does not read the file again.
 *
 * @throws UsageError with one sentence for a file that is missing, does not load, or exports no
 *   policy
 */
export function ownPolicy(path: string): OwnPolicySpec {
  const file = resolve(path);
  if (!existsSync(file)) throw new UsageError(`The policy ${path} does not exist.`);
  const exported = load(path, file);
  const module = isObject(exported) ? exported['default'] : undefined;
  if (!isPolicyModule(module)) {
    throw new UsageError(
      `The policy ${path} has no default export with a function create; \`baton policy new\` ` +
        'writes an example.',
    );
  }
  for (const stage of STAGES) tryOut(path, module, stage);
  return { kind: 'own', path, module };
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
  return error instanceof SyntaxError ? `${message}${lineOf(file)}` : message;
}

/** Node names the line of a syntax error only to those who check the file. */
function lineOf(file: string): string {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
  const line = /:(\d+)\r?\n/.exec(stderr)?.[1];
  return line === undefined ? '' : ` in line ${line}`;
}

function isPolicyModule(given: unknown): given is OwnPolicyModule {
  return isObject(given) && typeof given['create'] === 'function';
}

function tryOut(path: string, module: OwnPolicyModule, stage: EngineRole): void {
  let policy: unknown;
  try {
    policy = module.create({ stage, random: RandomStream.root(0) });
  } catch (error) {
    throw new UsageError(`The policy ${path}: create (${stage}) threw ${String(error)}.`);
  }
  if (isObject(policy) && typeof policy['choose'] === 'function') return;
  throw new UsageError(`The policy ${path}: create (${stage}) returned no object with choose.`);
}
