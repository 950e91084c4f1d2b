import type { SloClass, SloClasses } from '@baton/policies';
import { rowName, type Workload } from '@baton/workload';

/** The SLO classes of a run, and the class of each row. */
export interface RowClasses {
  readonly all: readonly SloClass[];
  of(row: number): SloClass;
}

/**
 * The class of each row: the one that it names, else the one of its priority, else the default.
 *
 * @returns a class that a row names and that does not exist, if any
 */
export function rowClasses(workload: Workload, classes: SloClasses): RowClasses | string {
  const unknown = (workload.sloClass?.names ?? []).find((name) => !classes.names.includes(name));
  if (unknown !== undefined) return unknown;
  const of = (row: number): SloClass => {
    const name = rowName(workload.sloClass, row);
    return classes.find({ name, priority: workload.priority[row] ?? 0 })!;
  };
  return { all: classes.all, of };
}
