// The parts of the boards: queries, panels, and their places on a board.
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  GraphThresholdsStyleConfigBuilder,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder as HeatmapBuilder } from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const SOURCE = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };
const WIDTH = 24;
export const MODEL = 'model_name=~"$model_name"';
/** The cluster that the board shows: its API, and the page of each worker process. */
const CLUSTER = 'namespace=~"$namespace",job=~"$job(-worker)?"';
const SELECTORS = /\b((?:vllm|baton):\w+|(?:http|process)_\w+)(?:\{([^}]*)\})?/g;
const QUANTILES = [0.5, 0.9, 0.99];

/**
 * A number of each engine with its stage and its name, which vLLM's families lack. Each engine
 * counts once, for any number of pages.
 */
export const byEngine = (expression) =>
  `max by (namespace, job, stage, name) (${expression} * on (namespace, job, instance, engine, replica) group_left (stage, name) baton:engine_info)`;

export const byStage = (expression) => `sum by (stage) (${byEngine(expression)})`;

/** A share of rates: 0 without traffic. */
export const share = (part, whole) => `${part} / (${whole} > 0) or 0 * ${whole}`;

/** A mean of what happens at these rates: no value without traffic. */
export const perEvent = (sum, count) => `${sum} / (${count} > 0)`;

export const rate = (name, labels = MODEL) => `rate(${name}{${labels}}[$__rate_interval])`;

/** Without traffic a quantile is NaN, which the comparison leaves out. */
export const quantiles = (family) =>
  QUANTILES.map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (${rate(`${family}_bucket`)})) >= 0`,
    legend: `p${quantile * 100}`,
  }));

export const mean = (family, by, labels = MODEL) => {
  const sum = (part) => `sum${by ? ` by (${by})` : ''} (${rate(`${family}_${part}`, labels)})`;
  return perEvent(sum('sum'), sum('count'));
};

/** The query with every series selected by namespace and job: other servers have the same names. */
function ofCluster(expr) {
  return expr.replace(SELECTORS, (_all, name, labels) => {
    return `${name}{${labels === undefined ? CLUSTER : `${CLUSTER},${labels}`}}`;
  });
}

function queries(builder, targets) {
  targets.forEach(({ expr, legend }, index) => {
    const query = new DataqueryBuilder()
      .expr(ofCluster(expr))
      .refId(String.fromCharCode(65 + index));
    builder.withTarget(legend === undefined ? query : query.legendFormat(legend));
  });
  return builder;
}

/** `to`: unit, description, and the limit of bad values, a dashed line. */
export function lines(title, to, targets) {
  const { unit, description, stacked = false, bad } = typeof to === 'string' ? { unit: to } : to;
  const panel = new TimeseriesBuilder().title(title).unit(unit).datasource(SOURCE);
  panel
    .span(8)
    .height(8)
    .lineWidth(1)
    .fillOpacity(stacked ? 40 : 5)
    .min(0);
  if (stacked) panel.stacking(new StackingConfigBuilder().mode('normal').group('A'));
  if (description) panel.description(description);
  if (bad !== undefined) {
    panel.thresholds(thresholds(bad, bad));
    panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode('dashed'));
  }
  return queries(panel, targets);
}

/**
 * One figure; `to`: unit, description, and the limits of yellow and red. Where `bad` is
 * below `warn`, low values are the bad ones.
 */
export function stat(title, to, expr) {
  const { unit, description, warn, bad } = typeof to === 'string' ? { unit: to } : to;
  const panel = new StatBuilder().title(title).unit(unit).datasource(SOURCE).noValue('–');
  panel
    .span(4)
    .height(4)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  if (description) panel.description(description);
  if (bad !== undefined) panel.thresholds(thresholds(warn, bad));
  return queries(panel, [{ expr }]);
}

function thresholds(warn, bad) {
  const isLowBad = bad < warn;
  const steps = isLowBad
    ? [
        [null, 'red'],
        [bad, 'yellow'],
        [warn, 'green'],
      ]
    : [
        [null, 'green'],
        [warn, 'yellow'],
        [bad, 'red'],
      ];
  const builder = new ThresholdsConfigBuilder().mode('absolute');
  return builder.steps(steps.map(([value, color]) => ({ value, color })));
}

export function heatmap(title, description, expr) {
  const panel = new HeatmapBuilder()
    .title(title)
    .description(description)
    .datasource(SOURCE)
    .span(8)
    .height(8);
  panel.withTarget(
    new DataqueryBuilder()
      .expr(ofCluster(expr))
      .legendFormat('{{le}}')
      .format('heatmap')
      .refId('A'),
  );
  return panel;
}

export function dashboard({ uid, title, description, rows }) {
  const board = new DashboardBuilder(title).uid(uid).description(description).tags(['baton']);
  board.refresh('5s').time({ from: 'now-15m', to: 'now' }).timezone('browser').readonly();
  board.withVariable(
    new DatasourceVariableBuilder('DS_PROMETHEUS').label('Prometheus').type('prometheus'),
  );
  const job = variable('job', 'Job', 'label_values(baton:engine_info, job)');
  board.withVariable(job.current({ text: 'baton', value: 'baton' }));
  board.withVariable(
    withAll('namespace', 'Namespace', 'label_values(baton:engine_info, namespace)'),
  );
  const models = 'label_values(vllm:num_requests_running{job="$job"}, model_name)';
  board.withVariable(withAll('model_name', 'Model', models));
  // Built row by row: panels fill a line of 24 columns and break to the next.
  let top = 0;
  for (const { name, panels } of rows) {
    board.withRow(new RowBuilder(name).gridPos({ x: 0, y: top, w: WIDTH, h: 1 }));
    top = placed(board, panels, top + 1);
  }
  return board.build();
}

function variable(name, label, query) {
  return new QueryVariableBuilder(name).label(label).datasource(SOURCE).query(query).refresh(2);
}

function withAll(name, label, query) {
  const current = { text: 'All', value: '$__all' };
  return variable(name, label, query).includeAll(true).allValue('.*').current(current);
}

function placed(board, panels, from) {
  let [x, y, line] = [0, from, 0];
  for (const panel of panels) {
    const { w, h } = panel.build().gridPos;
    if (x + w > WIDTH) [x, y, line] = [0, y + line, 0];
    board.withPanel(panel.gridPos({ x, y, w, h }));
    x += w;
    line = Math.max(line, h);
  }
  return y + line;
}

export const perStage = { legend: '{{stage}}' };
export const perEngine = { legend: '{{name}}' };
