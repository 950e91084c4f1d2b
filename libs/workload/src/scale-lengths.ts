import { withContentBlock } from './content-block';
import type { Workload } from './workload';

export interface LengthScale {
  /** Factor on the prompts, > 0. Content blocks grow or shrink with them. */
  readonly prompt?: number | undefined;
  /** Factor on the outputs, > 0. */
  readonly output?: number | undefined;
  /** No request becomes longer than this because of a factor, prompt and output together. */
  readonly mostTokens: number;
}

/**
 * The workload with longer or shorter prompts and outputs, at the same instants. Shared contents
 * stay shared: with twice the prompts, a block of 16 tokens becomes 32 tokens long, and is then
 * split into two of 16.
 *
 * @throws WorkloadError when the scaled content blocks do not convert to blocks of the same size,
 *   as for a factor that is not a power of two
 */
export function scaleLengths(
  workload: Workload,
  { prompt = 1, output = 1, mostTokens }: LengthScale,
): Workload {
  const blockTokens = workload.contentBlockTokens;
  const outputTokens = workload.outputTokens.map((tokens, row) => {
    const room = mostTokens - workload.promptTokens[row]!;
    return Math.min(scaled(tokens, output), Math.max(tokens, room));
  });
  const promptTokens = workload.promptTokens.map((tokens, row) => {
    return Math.min(scaled(tokens, prompt), Math.max(tokens, mostTokens - outputTokens[row]!));
  });
  const maxTokens = workload.maxTokens.map((tokens) => (tokens === 0 ? 0 : scaled(tokens, output)));
  const longer = { ...workload, promptTokens, outputTokens, maxTokens };
  return withContentBlock({ ...longer, contentBlockTokens: blockTokens * prompt }, blockTokens);
}

function scaled(tokens: number, factor: number): number {
  return Math.max(1, Math.round(tokens * factor));
}
