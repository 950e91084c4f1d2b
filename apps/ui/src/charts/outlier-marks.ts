import type uPlot from 'uplot';
import { colour } from '../palette';

/** Half the width of a triangle, CSS pixels. */
const HALF = 4;

/** Draws a triangle at the upper edge for every value above the scale of its series. */
export function markOutliers(plot: uPlot): void {
  const { ctx, bbox, data, series } = plot;
  const half = HALF * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour('bad');
  for (const [i, { scale = 'y' }] of series.entries()) {
    const top = plot.scales[scale]?.max;
    if (i === 0 || top == null) continue;
    for (const [at, value] of data[i]!.entries()) {
      if (value == null || value <= top) continue;
      const x = plot.valToPos(data[0][at]!, 'x', true);
      ctx.beginPath();
      ctx.moveTo(x - half, bbox.top + 2 * half);
      ctx.lineTo(x + half, bbox.top + 2 * half);
      ctx.lineTo(x, bbox.top);
      ctx.fill();
    }
  }
  ctx.restore();
}
