import { meanUs } from './merged-table';
import type { OwnTableAt } from './held-out';

/** Operators only of steps with prompts, and only of decode steps. All others count for both. */
const OF_PROMPTS_ALONE = new Set(['context_attention', 'mla_context']);
const OF_DECODE_ALONE = new Set(['generation_attention', 'mla_generation']);

/** Ratios of single measurements to the mean of their place, by kind of step. */
export interface RepeatedRatios {
  readonly decode: readonly number[];
  readonly prefill: readonly number[];
}

/**
 * The spread of several measurements of one place around their mean. The deviations of n of them
 * are widened by √(n / (n − 1)), since their own mean is nearer to them than the true one.
 */
export function repeatedRatios(tables: readonly OwnTableAt[]): RepeatedRatios {
  const ratios = { decode: [] as number[], prefill: [] as number[] };
  for (const { name, table } of tables) {
    const operator = name.slice(0, name.indexOf('.'));
    for (const point of table.values()) {
      const count = point.us.length;
      if (count < 2) continue;
      const [mean, widened] = [meanUs(point), Math.sqrt(count / (count - 1))];
      for (const us of point.us) {
        const ratio = Math.max(LEAST, 1 + (us / mean - 1) * widened);
        if (!OF_PROMPTS_ALONE.has(operator)) ratios.decode.push(ratio);
        if (!OF_DECODE_ALONE.has(operator)) ratios.prefill.push(ratio);
      }
    }
  }
  return ratios;
}

/** Lower limit of a widened ratio, so that no time vanishes. */
const LEAST = 0.05;
