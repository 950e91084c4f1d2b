import { UsageError } from '@baton/config';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { makeFolder } from '@baton/kernel';
import { cannotWrite } from '../claim-output';
import { ADMISSION_EXAMPLE, ADMISSION_TEST } from './admission-example';
import { EXAMPLE_POLICY, EXAMPLE_TEST } from './example';
import { FLOW_EXAMPLE, FLOW_TEST } from './flow-example';
import type { PolicyKindName } from './policy-kinds';
import { SCALING_EXAMPLE, SCALING_TEST } from './scaling-example';
import { SCHEDULING_EXAMPLE, SCHEDULING_TEST } from './scheduling-example';

interface Example {
  readonly policy: string;
  readonly test: string;
}

const EXAMPLES: Readonly<Record<PolicyKindName, Example>> = {
  placement: { policy: EXAMPLE_POLICY, test: EXAMPLE_TEST },
  'decode-placement': { policy: decodeExample(), test: EXAMPLE_TEST },
  admission: { policy: ADMISSION_EXAMPLE, test: ADMISSION_TEST },
  'flow-control': { policy: FLOW_EXAMPLE, test: FLOW_TEST },
  scheduling: { policy: SCHEDULING_EXAMPLE, test: SCHEDULING_TEST },
  scaling: { policy: SCALING_EXAMPLE, test: SCALING_TEST },
};

/** The same interface, with the commands for the other stage. */
function decodeExample(): string {
  return EXAMPLE_POLICY.replace('an engine for', 'the engine that generates the answer of')
    .replace('NAME.mjs --trace', 'NAME.mjs --kind decode-placement --trace')
    .replace('--placement', '--decode-placement');
}

/**
 * Writes a commented policy and its test into the working directory, or the folder in `name`, which
 * it creates.
 *
 * @returns the paths of both files
 * @throws UsageError when one of them exists; Failure when one cannot be written
 */
export function writeExample(name: string, kind: PolicyKindName): readonly string[] {
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
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
