import type { TheirRun } from './vllm-driver';

export interface Difference {
  readonly step: number;
  readonly text: string;
}

/** The first step in which vLLM's scheduler and ours differ. Undefined without one. */
export function firstDifference(
  theirs: readonly string[],
  ours: readonly string[],
): Difference | undefined {
  const at = theirs.findIndex((line, i) => line !== ours[i]);
  if (at < 0 && theirs.length === ours.length) return undefined;
  const step = at < 0 ? theirs.length : at;
  return { step, text: `step ${step}: vLLM ${theirs[step]} ours ${ours[step]}` };
}

/** A documented reason to differ: see docs/engine.md. */
export type Reason = 'twin' | 'starves' | 'in-flight';

/**
 * The reason for which both may differ from this step on. A twin, a starving request or a
 * preemption in flight that comes only after the first difference does not explain it.
 */
export function reasonFor(
  { step }: Difference,
  { twinAt, starvesFrom, inFlightAt }: Pick<TheirRun, 'twinAt' | 'starvesFrom' | 'inFlightAt'>,
): Reason | undefined {
  if (twinAt !== null && twinAt <= step) return 'twin';
  if (starvesFrom !== null && starvesFrom <= step) return 'starves';
  return inFlightAt !== null && inFlightAt <= step ? 'in-flight' : undefined;
}
