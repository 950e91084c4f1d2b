import { createRequire } from 'node:module';
import type * as Vega from 'vega';
import type * as VegaLite from 'vega-lite';
import type { ModuleLoader } from './import-module';
import { type Axis, type HeatMapSection, type LineChartSection, TONES } from '../sections';

const WIDTH = 560;
const HEIGHT = 300;

type Spec = Readonly<Record<string, unknown>>;

const importModule: ModuleLoader = (name) => {
  const load = createRequire(__filename);
  return (load('./import-module') as { readonly importModule: ModuleLoader }).importModule(name);
};

/**
 * A chart as an SVG image, for papers and pages without scripts. The first call loads Vega-Lite,
 * which takes about half a second. `load` is for callers that cannot import modules dynamically,
 * such as a test runner.
 */
export async function chartSvg(
  section: LineChartSection | HeatMapSection,
  load: ModuleLoader = importModule,
): Promise<string> {
  const { compile } = (await load('vega-lite')) as typeof VegaLite;
  const vega = (await load('vega')) as typeof Vega;
  const spec = section.kind === 'lineChart' ? lineChart(section) : heatMap(section);
  const { spec: compiled } = compile({ ...FRAME, title: section.title, ...spec } as never);
  const view = new vega.View(vega.parse(compiled), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return `${svg}\n`;
}

const FRAME: Spec = {
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  width: WIDTH,
  height: HEIGHT,
  background: '#ffffff',
  config: { font: 'sans-serif', view: { stroke: '#dde1e7' } },
};

function lineChart(section: LineChartSection): Spec {
  const { series, marks = [] } = section;
  const points = series.filter(({ style }) => style === 'points');
  const lines = series.filter(({ style }) => style !== 'points');
  const bounds = marks.map(({ axis, at, label }) => ({
    data: { values: [{ at, label }] },
    mark: { type: 'rule', strokeDash: [5, 4], color: '#c93a3a' },
    encoding: { [axis]: { field: 'at', type: 'quantitative' } },
  }));
  const layers = [
    { mark: { type: 'line' }, series: lines },
    { mark: { type: 'point', filled: true }, series: points },
  ].filter((layer) => layer.series.length > 0);
  const colours = { domain: series.map(({ name }) => name), range: lineColours(series) };
  const legend = series.length > 1 ? { title: null } : null;
  const encoding = {
    ...placeOf(section),
    color: { field: 'line', type: 'nominal', scale: colours, legend },
  };
  return {
    layer: [
      ...layers.map(({ mark, series: shown }) => {
        return { data: { values: valuesOf(section, shown) }, mark, encoding };
      }),
      ...bounds,
    ],
  };
}

function valuesOf({ xs }: LineChartSection, series: LineChartSection['series']): Spec[] {
  return series.flatMap((line) =>
    xs.flatMap((at, i) => {
      const value = line.values[i] ?? null;
      return value === null ? [] : [{ at, value, line: line.name }];
    }),
  );
}

function placeOf({ x, y }: LineChartSection): Spec {
  const scale = (axis: Axis): Spec => ({
    type: axis.scale ?? 'linear',
    ...(axis.scale === 'log' ? {} : { zero: false }),
    nice: false,
    ...(axis.range === undefined ? {} : { domain: axis.range }),
  });
  const title = x.unit === undefined ? x.label : `${x.label}, ${x.unit}`;
  return {
    x: { field: 'at', type: 'quantitative', title, scale: scale(x) },
    y: { field: 'value', type: 'quantitative', title: y.label, scale: scale(y) },
  };
}

/** Colours of lines; lines of one tone differ in lightness. */
function lineColours(series: LineChartSection['series']): string[] {
  const counts = new Map<string, number>();
  return series.map(({ tone }) => {
    const earlier = counts.get(tone) ?? 0;
    counts.set(tone, earlier + 1);
    const [hue, saturation] = TONES[tone];
    return `hsl(${hue}, ${saturation}%, ${34 + ((earlier * 17) % 48)}%)`;
  });
}

function heatMap({ rows, columns, values, rowsAre, columnsAre, decimals }: HeatMapSection): Spec {
  const cells = rows.flatMap((row, r) =>
    columns.map((column, c) => ({ row, column, value: values[r]?.[c] ?? null })),
  );
  const place = {
    x: { field: 'column', type: 'ordinal', title: columnsAre, sort: columns },
    y: { field: 'row', type: 'ordinal', title: rowsAre, sort: rows },
  };
  return {
    data: { values: cells.filter(({ value }) => value !== null) },
    encoding: place,
    layer: [
      {
        mark: 'rect',
        encoding: {
          color: { field: 'value', type: 'quantitative', scale: { scheme: 'blues' }, title: null },
        },
      },
      {
        mark: { type: 'text', fontSize: 10 },
        encoding: { text: { field: 'value', type: 'quantitative', format: `.${decimals}f` } },
      },
    ],
  };
}
