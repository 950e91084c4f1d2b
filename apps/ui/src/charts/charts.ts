import uPlot from 'uplot';
import { make } from '../element';
import { explainer } from '../explain';
import { formatCount, readableMs, readableShare } from '../format';
import { LATE_SCALE, shadeLate } from './late-shade';
import { markOutliers } from './outlier-marks';
import { colour, onScheme, type PageTone } from '../palette';
import type { LineKey, RateHistory } from './rate-history';
import { robustTop } from './robust-scale';

const HEIGHT = 170;

interface Line {
  readonly key: LineKey;
  readonly label: string;
  readonly tone: PageTone;
  readonly isFaint?: boolean;
  /** Whether the series has a scale of its own, on the right. */
  readonly isSecond?: boolean;
}

interface ChartPlan {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly format: (value: number | null | undefined) => string;
}

const PLANS: readonly ChartPlan[] = [
  {
    title: 'Time to first token',
    unit: 'ms or s, simulated',
    format: readableMs,
    lines: [
      { key: 'ttft50', label: 'p50', tone: 'prefill' },
      { key: 'ttft99', label: 'p99', tone: 'prefill', isFaint: true },
    ],
  },
  {
    title: 'Inter-token latency',
    unit: 'ms, simulated',
    format: readableMs,
    lines: [
      { key: 'itl50', label: 'p50', tone: 'decode' },
      { key: 'itl99', label: 'p99', tone: 'decode', isFaint: true },
    ],
  },
  {
    title: 'Throughput',
    unit: 'tokens/s left, requests/s right',
    format: formatCount,
    lines: [
      { key: 'tokens', label: 'tokens/s', tone: 'decode' },
      { key: 'arrived', label: 'arriving/s', tone: 'queue', isSecond: true },
      { key: 'finished', label: 'finished/s', tone: 'prefill', isSecond: true },
    ],
  },
];

/** The three charts of the last two minutes. */
export class Charts {
  readonly element = make('div', { class: 'charts' });
  private plots: { readonly plan: ChartPlan; readonly plot: uPlot; readonly frame: HTMLElement }[] =
    [];

  constructor(private readonly history: RateHistory) {
    this.build();
    onScheme(() => this.build());
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  show(): void {
    for (const { plan, plot } of this.plots) {
      plot.setData(this.columns(plan));
      // Without the pointer on the chart, the legend shows the newest values.
      if ((plot.cursor.left ?? -1) < 0) plot.setLegend({ idx: plot.data[0].length - 1 });
    }
  }

  private columns({ lines }: ChartPlan): uPlot.AlignedData {
    return this.history.columns([...lines.map(({ key }) => key), 'late']) as uPlot.AlignedData;
  }

  /**
   * Builds the charts, again after each change of colours, because a chart reads them only once.
   */
  private build(): void {
    for (const { plot } of this.plots) plot.destroy();
    const frames = PLANS.map(({ title, unit }) =>
      make('section', { class: 'panel chart', 'aria-label': title }, [
        make('h2', {}, [title, ' ', make('small', {}, [unit]), explainer('charts', title)]),
      ]),
    );
    this.element.replaceChildren(...frames);
    this.plots = PLANS.map((plan, i) => {
      const frame = frames[i]!;
      return {
        plan,
        frame,
        plot: new uPlot(
          options(plan, () => this.history.spanS),
          this.columns(plan),
          frame,
        ),
      };
    });
    this.fit();
  }

  private fit(): void {
    for (const { plot, frame } of this.plots) {
      const style = getComputedStyle(frame);
      const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
      const width = Math.max(160, frame.clientWidth - padding);
      if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
    }
  }
}

function options(plan: ChartPlan, spanS: () => number): uPlot.Options {
  const hasSecond = plan.lines.some(({ isSecond }) => isSecond);
  const values = (_plot: uPlot, ticks: number[]): string[] => ticks.map(plan.format);
  return {
    width: 320,
    height: HEIGHT,
    padding: [8, hasSecond ? 0 : 16, 0, 0],
    hooks: { drawClear: [shadeLate], draw: [markOutliers] },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [-spanS(), 0] },
      y: { range: fromZero('y') },
      second: { range: fromZero('second') },
      [LATE_SCALE]: { range: () => [0, 1] },
    },
    axes: [
      axis({ values: (_plot, ticks) => ticks.map((tick) => (tick === 0 ? 'now' : `${tick} s`)) }),
      axis({ scale: 'y', size: 58, values }),
      ...(hasSecond
        ? [axis({ scale: 'second', side: 1, size: 46, values, grid: { show: false } })]
        : []),
    ],
    series: [
      { label: 'at', value: (_plot, x) => (x ? `${formatCount(x)} s` : 'now') },
      ...plan.lines.map((line) => seriesOf(line, plan)),
      lateSeries(),
    ],
  };
}

function seriesOf({ label, tone, isFaint, isSecond }: Line, plan: ChartPlan): uPlot.Series {
  return {
    label,
    scale: isSecond ? 'second' : 'y',
    stroke: colour(tone),
    width: isFaint ? 1 : 2,
    ...(isFaint ? { dash: [5, 3] } : {}),
    spanGaps: true,
    points: { show: false },
    value: (_plot, value) => plan.format(value),
  };
}

/** Has no line: the time is shaded, and the legend has the reason. */
function lateSeries(): uPlot.Series {
  return {
    label: 'latencies',
    scale: LATE_SCALE,
    stroke: colour('bad'),
    paths: () => null,
    points: { show: false, stroke: 'transparent', fill: 'transparent' },
    value: (_plot, share) =>
      share == null ? 'valid' : `VOID, ${readableShare(share)} of the tokens came late`,
  };
}

function axis(more: uPlot.Axis): uPlot.Axis {
  const line = { stroke: colour('line'), width: 1 };
  const font = '11px system-ui, sans-serif';
  return { stroke: colour('muted'), grid: line, ticks: line, font, ...more };
}

/** A range from zero to a little above the highest usual value. */
function fromZero(scale: string): (plot: uPlot) => uPlot.Range.MinMax {
  return (plot) => {
    const columns = plot.series.flatMap((each, i) => (each.scale === scale ? [plot.data[i]!] : []));
    const top = robustTop(columns.flatMap((column) => [...column]));
    return [0, top > 0 ? top * 1.15 : 1];
  };
}
