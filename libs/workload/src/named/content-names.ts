import { mix } from '@baton/kernel';
import type { Workload } from '../workload';

/** The names of contents in their source, equal in two workloads of one source. */
export interface ContentNames {
  /** The ids of the source, in the order in which their contents were first numbered. */
  readonly ofSource: Float64Array;
  /** Number of contents that each id was split into. They have consecutive numbers. */
  readonly parts: number;
}

/**
 * Returns a function from content to name. Part i of an id has name (id - 1) · parts + i, as in
 * `withContentBlock`.
 */
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

/** The contents of the workload with these names, by name. */
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
