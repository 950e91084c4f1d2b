import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withContentBlock } from './content-block';
import { describeWorkload } from './describe-workload';
import { type Workload, WorkloadError } from './workload';
import { WorkloadBuilder } from './workload-builder';

interface Request {
  readonly tokens: number;
  readonly ids: readonly number[];
}

function mooncakeLike(requests: readonly Request[], contentBlockTokens = 512): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens });
  requests.forEach(({ tokens, ids }, i) => {
    builder.add({ arrivalUs: i, promptTokens: tokens, outputTokens: 600 });
    builder.addContents(ids, 0);
  });
  return builder.build();
}

const listsOf = (workload: Workload): number[][] =>
  Array.from({ length: workload.count }, (_none, row) =>
    Array.from(
      workload.contentIds.subarray(workload.contentStart[row], workload.contentStart[row + 1]),
    ),
  );

/** Requests that share prefixes as in a trace: each is a path down a tree of blocks. */
const requestLists = fc.array(
  fc.record({
    path: fc.array(fc.nat(2), { maxLength: 5 }),
    rest: fc.integer({ min: 1, max: 512 }),
  }),
  { maxLength: 30 },
);

function alongPaths(paths: readonly { path: readonly number[]; rest: number }[]): Workload {
  const ids = new Map<string, number>();
  const idOf = (key: string): number => {
    if (!ids.has(key)) ids.set(key, ids.size + 1);
    return ids.get(key) ?? 0;
  };
  return mooncakeLike(
    paths.map(({ path, rest }) => {
      const full = path.map((_none, i) => idOf(path.slice(0, i + 1).join()));
      return {
        tokens: path.length * 512 + rest,
        ids: [...full, idOf(`${path.join()} then ${rest}`)],
      };
    }),
  );
}

describe('withContentBlock', () => {
  it('splits an id and ends with the last full block of the prompt', () => {
    const workload = mooncakeLike([
      { tokens: 512 + 40, ids: [1, 2] },
      { tokens: 300, ids: [3] },
    ]);
    const split = withContentBlock(workload, 128);
    expect(listsOf(split)).toEqual([
      [1, 2, 3, 4],
      [9, 10],
    ]);
    expect(split).toMatchObject({ contentBlockTokens: 128, contentCount: 12 });
  });

  it('keeps only ids of full blocks, even at the same size', () => {
    const workload = mooncakeLike([{ tokens: 600, ids: [1, 2] }]);
    expect(listsOf(withContentBlock(workload, 512))).toEqual([[1]]);
    const full = mooncakeLike([{ tokens: 1024, ids: [1, 2] }]);
    expect(withContentBlock(full, 512)).toBe(full);
  });

  it('keeps private blocks private', () => {
    const workload = mooncakeLike([{ tokens: 1536, ids: [1, 0, 0] }]);
    expect(listsOf(withContentBlock(workload, 256))).toEqual([[1, 2, 0, 0, 0, 0]]);
    expect(listsOf(withContentBlock(workload, 1024))).toEqual([[0]]);
  });

  it('covers the output where the ids do', () => {
    const builder = new WorkloadBuilder({ contentBlockTokens: 32, contentSpan: 'sequence' });
    builder.add({ arrivalUs: 0, promptTokens: 40, outputTokens: 24 });
    builder.addContents([1, 2], 0);
    expect(listsOf(withContentBlock(builder.build(), 16))).toEqual([[1, 2, 3, 4]]);
  });

  it('restores large blocks from small ones, with the same reuse', () => {
    fc.assert(
      fc.property(requestLists, fc.constantFrom(16, 64, 256), (paths, small) => {
        const workload = alongPaths(paths);
        const split = withContentBlock(workload, small);
        const inFull = withContentBlock(workload, 512);
        expect(rank(listsOf(withContentBlock(split, 512)))).toEqual(rank(listsOf(inFull)));
        const reused = describeWorkload(split).reusableShare;
        expect(reused).toBeGreaterThanOrEqual(describeWorkload(inFull).reusableShare);
        expect(reused).toBeLessThanOrEqual(describeWorkload(workload).reusableShare);
      }),
    );
  });

  it('refuses sizes of which neither divides the other', () => {
    const workload = mooncakeLike([{ tokens: 512, ids: [1] }]);
    expect(() => withContentBlock(workload, 48)).toThrow(WorkloadError);
  });

  it('accepts any size for a workload without contents', () => {
    const builder = new WorkloadBuilder();
    builder.add({ arrivalUs: 0, promptTokens: 5, outputTokens: 5 });
    expect(withContentBlock(builder.build(), 48).contentBlockTokens).toBe(48);
  });
});

/** Lists with ids numbered by first appearance: equal for lists that differ only in names. */
function rank(lists: readonly number[][]): number[][] {
  const numbers = new Map<number, number>();
  return lists.map((ids) =>
    ids.map((id) => {
      if (!numbers.has(id)) numbers.set(id, numbers.size);
      return numbers.get(id) ?? 0;
    }),
  );
}
