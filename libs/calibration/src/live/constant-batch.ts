import { mean, median } from '@baton/kernel';
import { midMean } from './statistics';
import type { Answered } from './target';

/** The decode step of streams that started together, over the time in which all of them decode. */
export interface ConstantBatch {
  readonly stepMs: number;
  /** Mean of the same gaps, including pauses. */
  readonly meanMs: number;
  readonly medianMs: number;
  /** Prompt and output tokens per sequence that a step attends to. */
  readonly context: number;
  readonly gaps: number;
  /** Time from the first token of the first stream to that of the last stream. */
  readonly staggerMs: number;
}

/**
 * The batch from the last stream's first token to the first stream's last token, while no stream
 * joins or leaves. Undefined without a gap in that time.
 */
export function constantBatch(answers: readonly Answered[]): ConstantBatch | undefined {
  const firsts = answers.map(({ startMs, ttftMs }) => startMs + ttftMs);
  const fromMs = Math.max(...firsts);
  const toMs = Math.min(...answers.map((answer, i) => firsts[i]! + spanOf(answer)));
  const gaps: number[] = [];
  const pieces: number[] = [];
  const contexts: number[] = [];
  answers.forEach((answer, i) => {
    const own: number[] = [];
    const tokensPerGap = Math.max(1, (answer.outputTokens - 1) / answer.gapsMs.length);
    let atMs = firsts[i]!;
    for (let k = 0; k < answer.gapsMs.length; k++) {
      const gapMs = answer.gapsMs[k]!;
      if (atMs >= fromMs && atMs + gapMs <= toMs + ROUNDING_MS) {
        own.push(gapMs / tokensPerGap);
        contexts.push(answer.inputTokens + 1 + k * tokensPerGap);
      }
      atMs += gapMs;
    }
    gaps.push(...own);
    pieces.push(...meansOfPieces(own));
  });
  if (gaps.length === 0) return undefined;
  return {
    stepMs: midMean(pieces),
    meanMs: mean(gaps),
    medianMs: median(gaps),
    context: median(contexts),
    gaps: Math.floor(gaps.length / answers.length),
    staggerMs: fromMs - Math.min(...firsts),
  };
}

/**
 * Number of consecutive gaps averaged to one value: single gaps of tokens that arrive together are
 * useless, means of a few are not, and a pause affects only one mean.
 */
const PIECE = 6;

function meansOfPieces(gaps: readonly number[]): number[] {
  const pieces = Math.max(1, Math.floor(gaps.length / PIECE));
  return Array.from({ length: gaps.length === 0 ? 0 : pieces }, (_none, i) => {
    const [from, to] = [i, i + 1].map((k) => Math.round((k * gaps.length) / pieces));
    return mean(gaps.slice(from, to));
  });
}

/** Gaps are whole µs, and their sum is compared with instants. */
const ROUNDING_MS = 0.001;

function spanOf({ gapsMs }: Answered): number {
  let sum = 0;
  for (let i = 0; i < gapsMs.length; i++) sum += gapsMs[i]!;
  return sum;
}
