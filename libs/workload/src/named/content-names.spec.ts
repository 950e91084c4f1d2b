import { describe, expect, it } from 'vitest';
import { withContentBlock } from '../content-block';
import { shareWorkload } from '../share';
import type { Workload } from '../workload';
import { WorkloadBuilder } from '../workload-builder';
import { contentNameOf, contentsNamed } from './content-names';

/** One request per list of ids, in blocks of 32 tokens. */
function traceOf(...lists: readonly (readonly number[])[]): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: 32 });
  lists.forEach((ids, i) => {
    builder.add({ arrivalUs: i, promptTokens: ids.length * 32, outputTokens: 1 });
    for (const id of ids) builder.addContent(id);
  });
  return builder.build();
}

/** The names of the contents of each request. */
function namesIn(workload: Workload): number[][] {
  const { contentStart: start, contentIds } = workload;
  return Array.from({ length: workload.count }, (_, row) =>
    Array.from(contentIds.subarray(start[row], start[row + 1]), contentNameOf(workload)),
  );
}

const HASH = 2 ** 52 + 12_345;

describe('names of contents', () => {
  it('are the ids of the trace, in any order', () => {
    expect(namesIn(traceOf([1, 2], [1, 3]))).toEqual([
      [1, 2],
      [1, 3],
    ]);
    expect(namesIn(traceOf([70, HASH], [3]))).toEqual([[70, HASH], [3]]);
    expect(traceOf([1, 2, 3]).contentNames).toBeUndefined();
  });

  it.each([
    [8, 'cut'],
    [64, 'joined'],
  ])('are the same in two traces with blocks of %i tokens, %s', (blockTokens) => {
    const [first] = namesIn(withContentBlock(traceOf([5, HASH, 7, 8]), blockTokens));
    const second = withContentBlock(traceOf([1, 2], [5, HASH, 7, 8]), blockTokens);
    expect(namesIn(second)[1]).toEqual(first);
    expect(new Set(namesIn(second).flat()).size).toBe((6 * 32) / blockTokens);
  });

  it('identify exactly the contents that two traces share', () => {
    const workload = traceOf([9, HASH], [4]);
    const found = contentsNamed(workload, new Set([4, 5, HASH]));
    expect([...found.keys()].sort((a, b) => a - b)).toEqual([4, HASH]);
    for (const [name, content] of found) expect(contentNameOf(workload)(content)).toBe(name);
  });

  it('are not shared between threads', () => {
    expect(shareWorkload(traceOf([9, 4])).contentNames).toBeUndefined();
  });
});
