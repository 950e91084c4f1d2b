import type uPlot from 'uplot';
import { colour } from '../palette';

/** The scale of the series of late tokens, which has no line of its own. */
export const LATE_SCALE = 'late';

/** Light enough to read the lines and the grid on it. */
const OPACITY = 0.14;

type Span = readonly [from: number, to: number];

/**
 * The spans of `xs` whose values are void, because `shares` has a share of late tokens there. A
 * value covers the time since the value before it; neighbours make one span.
 */
export function lateSpans(
  xs: ArrayLike<number>,
  shares: ArrayLike<number | null | undefined>,
): readonly Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < xs.length; i++) {
    if (shares[i] == null) continue;
    const from = xs[Math.max(0, i - 1)]!;
    const last = spans.at(-1);
    if (last?.[1] === from) spans[spans.length - 1] = [last[0], xs[i]!];
    else spans.push([from, xs[i]!]);
  }
  return spans;
}

/** Shades the time in which the latencies are void, below the grid and the lines. */
export function shadeLate(plot: uPlot): void {
  const { ctx, bbox, data, series } = plot;
  const shares = data[series.findIndex(({ scale }) => scale === LATE_SCALE)] ?? [];
  ctx.save();
  ctx.fillStyle = colour('bad');
  ctx.globalAlpha = OPACITY;
  for (const [from, to] of lateSpans(data[0], shares)) {
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true));
    const right = Math.max(left + devicePixelRatio, plot.valToPos(to, 'x', true));
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}
