import { describe, expect, it } from 'vitest';
import type { HeatMapSection, LineChartSection } from '../sections';
import { chartSvg } from './svg';

const CHART: LineChartSection = {
  kind: 'lineChart',
  title: 'Pareto <front>',
  x: { label: 'TTFT', unit: 'ms', scale: 'log' },
  y: { label: 'goodput', range: [0, 1] },
  xs: [100, 200, 400],
  series: [
    { name: 'splits', values: [0.2, null, 0.9], tone: 'prefill', style: 'points' },
    { name: 'front', values: [0.2, 0.5, 0.9], tone: 'decode' },
  ],
  marks: [{ axis: 'x', at: 300, label: 'SLO' }],
};

const MAP: HeatMapSection = {
  kind: 'heatMap',
  title: 'Goodput',
  rowsAre: 'prefill',
  columnsAre: 'decode',
  rows: ['1', '2'],
  columns: ['1', '2'],
  values: [
    [0.25, null],
    [1, 0.5],
  ],
  decimals: 2,
};

/** The test runner's own `import`. */
const load = async (name: string): Promise<unknown> => import(/* @vite-ignore */ name);

describe('a picture', () => {
  it('of lines and points is SVG with escaped text and a mark', async () => {
    const svg = await chartSvg(CHART, load);
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(svg).toContain('Pareto &lt;front&gt;');
    expect(svg).toContain('TTFT, ms');
    expect(svg.match(/stroke-dasharray="5,4"/g)).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  it('of a map has a cell and a number for each known value', async () => {
    const svg = await chartSvg(MAP, load);
    for (const text of ['0.25', '1.00', '0.50']) expect(svg).toContain(`>${text}<`);
    expect(svg.match(/aria-roledescription="rect mark"/g)).toHaveLength(3);
  });

  it('is equal every time', async () => {
    expect(await chartSvg(CHART, load)).toBe(await chartSvg(CHART, load));
  });
});
