import type { Workload } from './workload';

/**
 * The workload with one common text at the beginning of every prompt, in place of as many tokens of
 * its own. Contents behind it stay as they are, so what requests share beyond it they still share.
 *
 * @param tokens  length of the common text; whole blocks of it are shared
 */
export function withSharedPrefix(workload: Workload, tokens: number): Workload {
  const { contentBlockTokens, contentCount, count, promptTokens } = workload;
  const common = Math.floor(tokens / contentBlockTokens);
  const start = new Float64Array(count + 1);
  const sharedIn = (row: number): number => {
    return Math.min(common, Math.floor(promptTokens[row]! / contentBlockTokens));
  };
  const listedIn = (row: number): number => {
    return workload.contentStart[row + 1]! - workload.contentStart[row]!;
  };
  for (let row = 0; row < count; row++) {
    start[row + 1] = start[row]! + Math.max(listedIn(row), sharedIn(row));
  }
  const ids = new Int32Array(start[count]!);
  for (let row = 0; row < count; row++) {
    const from = workload.contentStart[row]!;
    ids.set(workload.contentIds.subarray(from, from + listedIn(row)), start[row]!);
    for (let at = 0; at < sharedIn(row); at++) ids[start[row]! + at] = contentCount + 1 + at;
  }
  const { contentNames: _names, ...unnamed } = workload;
  return {
    ...unnamed,
    contentStart: start,
    contentIds: ids,
    contentCount: contentCount + common,
  };
}
