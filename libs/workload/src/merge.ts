import { type Numbers } from './column';
import type { MixedColumn } from './named/mix';
import { joinNamed } from './named/named-column';
import { inOrderOfArrival } from './rows';
import { type Workload, WorkloadError } from './workload';

/**
 * All requests of several workloads on one timeline. Contents of different workloads are different.
 * Sessions with equal keys are the same.
 *
 * @throws WorkloadError when their contents are in blocks of different sizes
 */
export function mergeWorkloads(workloads: readonly [Workload, ...Workload[]]): Workload {
  if (workloads.length === 1) return workloads[0];
  const described = workloads.filter((each) => each.contentIds.length > 0);
  const model = described[0] ?? workloads[0];
  for (const { contentBlockTokens, contentSpan } of described) {
    if (contentBlockTokens !== model.contentBlockTokens || contentSpan !== model.contentSpan) {
      throw new WorkloadError(
        'Workloads whose contents are in blocks of different sizes cannot be merged.',
      );
    }
  }
  const { rows, contents } = offsetsOf(workloads);
  const content = joinedLists(workloads, (each, index) => ({
    start: each.contentStart,
    values: each.contentIds.map((id) => (id === 0 ? 0 : id + contents[index]!)),
  }));
  const ids = joinedLists(workloads, (each) => ({
    start: each.requestIdStart,
    values: each.requestIdUnits,
  }));
  const column = <T extends Numbers>(of: (each: Workload) => T, blank = 0): T =>
    joinedColumn(workloads, of, blank);
  const { contentNames: _none, ...columns } = model;
  return inOrderOfArrival({
    ...columns,
    count: rows.at(-1)!,
    arrivalUs: column((each) => each.arrivalUs),
    promptTokens: column((each) => each.promptTokens),
    outputTokens: column((each) => each.outputTokens),
    maxTokens: column((each) => each.maxTokens),
    after: mergedAfter(workloads, rows),
    session: column((each) => each.session),
    priority: column((each) => each.priority),
    ...named(workloads, 'sloClass'),
    ...named(workloads, 'tenant'),
    ...named(workloads, 'adapter'),
    contentStart: content.start,
    contentIds: content.values,
    contentCount: contents.at(-1)!,
    requestIdStart: ids.start,
    requestIdUnits: ids.values,
  });
}

function named(workloads: readonly Workload[], key: MixedColumn): Pick<Workload, MixedColumn> {
  const joined = joinNamed(workloads.map((each) => ({ count: each.count, column: each[key] })));
  return joined === undefined ? {} : { [key]: joined };
}

/** Rows and contents before each workload, and in total. */
function offsetsOf(workloads: readonly Workload[]): { rows: number[]; contents: number[] } {
  const rows = [0];
  const contents = [0];
  for (const each of workloads) {
    rows.push(rows.at(-1)! + each.count);
    contents.push(contents.at(-1)! + each.contentCount);
  }
  return { rows, contents };
}

function mergedAfter(workloads: readonly Workload[], rows: readonly number[]): Int32Array {
  const merged = joinedColumn(workloads, (each) => each.after, -1);
  if (merged.length === 0) return merged;
  workloads.forEach((each, index) => {
    for (let row = rows[index]!; row < rows[index]! + each.count; row++) {
      if (merged[row] !== -1) merged[row]! += rows[index]!;
    }
  });
  return merged;
}

/**
 * Joins a column. The rows of a workload without the column get `blank`. Without any such column,
 * the result is empty.
 */
function joinedColumn<T extends Numbers>(
  workloads: readonly Workload[],
  of: (each: Workload) => T,
  blank: number,
): T {
  const type = of(workloads[0]!).constructor as new (size: number) => T;
  const isEmpty = workloads.every((each) => of(each).length === 0);
  const joined = new type(isEmpty ? 0 : workloads.reduce((sum, { count }) => sum + count, 0));
  let row = 0;
  for (const each of workloads) {
    const values = of(each);
    if (values.length > 0) joined.set(values, row);
    else if (!isEmpty) joined.fill(blank, row, row + each.count);
    row += each.count;
  }
  return joined;
}

interface Lists<T extends Numbers> {
  readonly start: Float64Array;
  readonly values: T;
}

function joinedLists<T extends Numbers>(
  workloads: readonly Workload[],
  of: (each: Workload, index: number) => Lists<T>,
): Lists<T> {
  const lists = workloads.map(of);
  const type = lists[0]!.values.constructor as new (size: number) => T;
  const values = new type(lists.reduce((sum, list) => sum + list.values.length, 0));
  if (lists.every(({ start }) => start.length === 0)) return { start: new Float64Array(0), values };
  const start = new Float64Array(workloads.reduce((sum, { count }) => sum + count, 1));
  let row = 0;
  let at = 0;
  workloads.forEach(({ count }, index) => {
    const list = lists[index]!;
    values.set(list.values, at);
    for (let i = 0; i < count; i++) start[row++] = at + (list.start[i] ?? 0);
    at += list.values.length;
  });
  start[row] = at;
  return { start, values };
}
