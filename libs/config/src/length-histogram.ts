import type { BatonConfig } from './config';
import { UsageError } from './usage-error';

/** A range of output lengths in tokens, both ends included, and its weight. */
export interface LengthRange {
  readonly min: number;
  readonly max: number;
  readonly weight: number;
}

/**
 * The ranges of `output_length_histogram`.
 *
 * @throws UsageError when there are none, or a range is empty or has no weight
 */
export function lengthHistogramOf({ outputLengthHistogram: text }: BatonConfig): LengthRange[] {
  if (text === undefined) {
    throw new UsageError('output_length histogram needs output_length_histogram.');
  }
  return text.split(',').map((written) => {
    const [min = 0, max = 0, weight = 0] = written.split(/[-:]/).map(Number);
    if (min >= 1 && min <= max && weight > 0) return { min, max, weight };
    throw new UsageError(
      `output_length_histogram: '${written}' is not a range from 1 with a weight above 0.`,
    );
  });
}
