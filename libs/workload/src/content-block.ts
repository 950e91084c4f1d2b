import { contentNameOf, type ContentNames } from './named/content-names';
import { MOST_CONTENTS, type Workload, WorkloadError } from './workload';

/**
 * The same contents in blocks of `blockTokens`, the block size of an engine: an id of 512 tokens
 * becomes 32 ids of 16, two ids of 16 become one of 32. The result has ids of full blocks only. A
 * block that the prompt fills in part becomes private, since the output continues in it.
 *
 * @throws WorkloadError when neither block size divides the other, or there are more than 2^31 ids
 */
export function withContentBlock(workload: Workload, blockTokens: number): Workload {
  const from = workload.contentBlockTokens;
  if (workload.contentIds.length === 0) return { ...workload, contentBlockTokens: blockTokens };
  if (from % blockTokens === 0) return split(workload, blockTokens);
  if (blockTokens % from === 0) return joined(workload, blockTokens);
  throw new WorkloadError(
    `Contents in blocks of ${from} tokens do not convert to blocks of ${blockTokens}: ` +
      'neither divides the other.',
  );
}

/** Part i of an id has number (id - 1) · parts + i, with i from 1. */
function split(workload: Workload, blockTokens: number): Workload {
  const parts = workload.contentBlockTokens / blockTokens;
  const start = fullBlockStarts(workload, blockTokens);
  if (parts === 1 && start[workload.count] === workload.contentIds.length) return workload;
  const contentCount = workload.contentCount * parts;
  if (contentCount > MOST_CONTENTS || start[workload.count]! > MOST_CONTENTS) {
    throw new WorkloadError(
      `The contents of this workload are too many for blocks of ${blockTokens} tokens.`,
    );
  }
  const ids = new Int32Array(start[workload.count]!);
  for (let row = 0; row < workload.count; row++) {
    let source = workload.contentStart[row]!;
    const to = start[row + 1]!;
    for (let at = start[row]!; at < to; source++) {
      const id = workload.contentIds[source]!;
      const end = Math.min(to, at + parts);
      // A private block is 0, the initial value of the new array.
      if (id === 0) at = end;
      else for (let part = (id - 1) * parts + 1; at < end; part++) ids[at++] = part;
    }
  }
  const { contentNames: names } = workload;
  const contentNames = names && { ...names, parts: names.parts * parts };
  return withContents(workload, { start, ids, blockTokens, contentCount, contentNames });
}

/** A large block has the id of its last small block, which implies all earlier ones. */
function joined(workload: Workload, blockTokens: number): Workload {
  const parts = blockTokens / workload.contentBlockTokens;
  const start = fullBlockStarts(workload, blockTokens);
  const ids = new Int32Array(start[workload.count]!);
  const numbers = new Int32Array(workload.contentCount + 1);
  const nameOf = contentNameOf(workload);
  const ofSource: number[] = [];
  let contentCount = 0;
  for (let row = 0; row < workload.count; row++) {
    let last = workload.contentStart[row]! + parts - 1;
    for (let at = start[row]!; at < start[row + 1]!; at++, last += parts) {
      const id = workload.contentIds[last]!;
      if (id === 0) continue;
      if (numbers[id] === 0) {
        numbers[id] = ++contentCount;
        ofSource.push(nameOf(id));
      }
      ids[at] = numbers[id]!;
    }
  }
  const contentNames = { ofSource: Float64Array.from(ofSource), parts: 1 };
  return withContents(workload, { start, ids, blockTokens, contentCount, contentNames });
}

interface Contents {
  readonly start: Float64Array;
  readonly ids: Int32Array;
  readonly blockTokens: number;
  readonly contentCount: number;
  readonly contentNames: ContentNames | undefined;
}

function withContents(workload: Workload, contents: Contents): Workload {
  return {
    ...workload,
    contentStart: contents.start,
    contentIds: contents.ids,
    contentBlockTokens: contents.blockTokens,
    contentCount: contents.contentCount,
    contentNames: contents.contentNames,
  };
}

/** The start of each row's list, when a row lists the full blocks among its tokens with ids. */
function fullBlockStarts(workload: Workload, blockTokens: number): Float64Array {
  const { contentStart, contentSpan, contentBlockTokens, promptTokens, outputTokens } = workload;
  const start = new Float64Array(workload.count + 1);
  for (let row = 0; row < workload.count; row++) {
    const listed = (contentStart[row + 1]! - contentStart[row]!) * contentBlockTokens;
    const span = promptTokens[row]! + (contentSpan === 'sequence' ? outputTokens[row]! : 0);
    start[row + 1] = start[row]! + Math.floor(Math.min(listed, span) / blockTokens);
  }
  return start;
}
