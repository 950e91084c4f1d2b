import { mix } from '@baton/kernel';
import type { Workload } from '../workload';

/** How contents are called where they come from: the same in two workloads of one source. */
export interface ContentNames {
  /** The ids of the source, in the order of the contents that were numbered first. */
  readonly ofSource: Float64Array;
  /** Contents that each of them was cut into, numbered one after the other. */
  readonly parts: number;
}

/** Number i of the parts of id is (id - 1) · parts + i, as in `withContentBlock`. */
export function contentNameOf({ contentNames }: Workload): (content: number) => number {
  if (contentNames === undefined) return (content) => content;
  const { ofSource, parts } = contentNames;
  return (content) => {
    const part = (content - 1) % parts;
    const id = ofSource[(content - 1 - part) / parts]!;
    const name = (id - 1) * parts + part + 1;
    return Number.isSafeInteger(name) ? name : mix(id, part);
  };
}

/** The contents of the workload that have these names, by their names. */
export function contentsNamed(
  workload: Workload,
  wanted: ReadonlySet<number>,
): Map<number, number> {
  const nameOf = contentNameOf(workload);
  const contents = new Map<number, number>();
  for (let content = 1; content <= workload.contentCount; content++) {
    const name = nameOf(content);
    if (wanted.has(name)) contents.set(name, content);
  }
  return contents;
}
