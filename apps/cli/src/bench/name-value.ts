import { UsageError } from '@baton/config';
import { flagNameOf } from '@baton/replay';
import type { BenchFlag } from './bench-options';

/** Reads `name=value`. @throws UsageError */
export function pairOf(flag: BenchFlag, entry: string): [name: string, value: string] {
  const at = entry.indexOf('=');
  if (at > 0) return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
  throw new UsageError(`${flagNameOf(flag)} takes name=value; '${entry}' is not.`);
}
