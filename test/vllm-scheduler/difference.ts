/** The first step in which vLLM's scheduler and ours differ, in words. Undefined without one. */
export function firstDifference(
  theirs: readonly string[],
  ours: readonly string[],
): string | undefined {
  const at = theirs.findIndex((line, i) => line !== ours[i]);
  if (at < 0 && theirs.length === ours.length) return undefined;
  const step = at < 0 ? theirs.length : at;
  return `step ${step}: vLLM ${theirs[step]} ours ${ours[step]}`;
}
