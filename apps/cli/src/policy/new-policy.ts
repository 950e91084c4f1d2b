import { UsageError } from '@baton/config';
import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { cannotWrite } from '../claim-output';
import { EXAMPLE_POLICY, EXAMPLE_TEST } from './example';
import { FLOW_EXAMPLE, FLOW_TEST } from './flow-example';
import { SCALING_EXAMPLE, SCALING_TEST } from './scaling-example';

const EXAMPLES = {
  placement: { policy: EXAMPLE_POLICY, test: EXAMPLE_TEST },
  scaling: { policy: SCALING_EXAMPLE, test: SCALING_TEST },
  'flow-control': { policy: FLOW_EXAMPLE, test: FLOW_TEST },
} as const;

export type PolicyKind = keyof typeof EXAMPLES;

/** @throws UsageError */
export function policyKind(given: string): PolicyKind {
  if (given in EXAMPLES) return given as PolicyKind;
  throw new UsageError(
    `--kind must be one of ${Object.keys(EXAMPLES).join(', ')}, not '${given}'.`,
  );
}

/**
 * Writes a commented policy and its test into the working directory, or the folder in `name`.
 *
 * @returns the paths of both files
 * @throws UsageError when one of them exists; Failure when one cannot be written
 */
export function writeExample(name: string, kind: PolicyKind): readonly string[] {
  const path = name.replace(/\.m?js$/, '');
  if (basename(path) === '' || path.endsWith('/')) {
    throw new UsageError(`'${name}' is not a name for a policy. Use for example my-policy.`);
  }
  const files = [
    { path: `${path}.mjs`, text: EXAMPLES[kind].policy },
    { path: `${path}.test.mjs`, text: EXAMPLES[kind].test },
  ];
  const taken = files.find((file) => existsSync(file.path));
  if (taken !== undefined) throw new UsageError(`${taken.path} exists; choose another name.`);
  for (const file of files) write(file.path, file.text.replaceAll('NAME', basename(path)));
  return files.map((file) => file.path);
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
