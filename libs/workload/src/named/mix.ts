import type { RandomStream } from '@baton/kernel';
import { isFirst, type Workload } from '../workload';
import { NamedRows } from './named-column';

/** The name of rows without an adapter in a mix of adapters. */
export const BASE_MODEL = 'base';

/** The columns of names that a mix can replace. */
export type MixedColumn = 'sloClass' | 'tenant' | 'adapter';

/**
 * A name and its part of the requests. The parts of a mix are relative: their sum is any number >
 * 0.
 */
export interface Share {
  readonly name: string;
  /** > 0 */
  readonly part: number;
}

/**
 * The workload with a name for each row, drawn by the shares, in place of its present names. All
 * turns of a conversation have the name of the first.
 */
export function withMix(
  workload: Workload,
  key: MixedColumn,
  { shares, random }: { readonly shares: readonly Share[]; readonly random: RandomStream },
): Workload {
  const rows = new NamedRows();
  const names: string[] = [];
  for (let row = 0; row < workload.count; row++) {
    const name = isFirst(workload, row) ? drawn(shares, random) : names[workload.after[row]!]!;
    names.push(name);
    rows.put(row, key === 'adapter' && name === BASE_MODEL ? undefined : name);
  }
  return { ...workload, [key]: rows.build(workload.count) };
}

function drawn(shares: readonly Share[], random: RandomStream): string {
  let left = random.unit() * shares.reduce((sum, { part }) => sum + part, 0);
  const found = shares.find(({ part }) => (left -= part) < 0);
  return (found ?? shares.at(-1)!).name;
}
