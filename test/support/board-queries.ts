import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const DEPLOY = new URL('../../deploy/', import.meta.url);

export interface BoardQuery {
  readonly board: string;
  readonly panel: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The queries of our boards' panels. */
export function ownBoardQueries(): BoardQuery[] {
  const folder = new URL('grafana/dashboards/', DEPLOY);
  return readdirSync(folder).flatMap((board) => {
    const { panels } = JSON.parse(readFileSync(new URL(board, folder), 'utf8')) as {
      panels: readonly Panel[];
    };
    return panels.flatMap(({ title: panel, targets = [] }) =>
      targets.map(({ expr }) => ({ board, panel, expr })),
    );
  });
}

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The recording and alert rules. */
export function ownRules(): Rule[] {
  const folder = new URL('prometheus/rules/', DEPLOY);
  return readdirSync(folder).flatMap((file) => {
    const { groups } = parse(readFileSync(new URL(file, folder), 'utf8')) as {
      groups: readonly { readonly rules: readonly Rule[] }[];
    };
    return groups.flatMap(({ rules }) => rules);
  });
}

const MODEL = '{model_name="$model_name"}';
const S = `${MODEL}[$__rate_interval]`;
const QUANTILES = ['0.99', '0.95', '0.9', '0.5'];
const LATENCIES = [
  'e2e_request_latency_seconds',
  'inter_token_latency_seconds',
  'time_to_first_token_seconds',
];

/** vLLM's examples/observability/prometheus_grafana/grafana.json. */
const GRAFANA = [
  ...LATENCIES.flatMap((name) => [
    ...QUANTILES.map((q) => `histogram_quantile(${q}, sum by(le) (rate(vllm:${name}_bucket${S})))`),
    `rate(vllm:${name}_sum${S}) / rate(vllm:${name}_count${S})`,
  ]),
  `rate(vllm:prompt_tokens_total${S})`,
  `rate(vllm:generation_tokens_total${S})`,
  `vllm:num_requests_running${MODEL}`,
  `vllm:num_requests_waiting${MODEL}`,
  `vllm:kv_cache_usage_perc${MODEL}`,
  `sum by(le) (increase(vllm:request_prompt_tokens_bucket${S}))`,
  `sum by(le) (increase(vllm:request_generation_tokens_bucket${S}))`,
  `sum by(finished_reason) (increase(vllm:request_success_total${S}))`,
  `rate(vllm:request_queue_time_seconds_sum${S})`,
  `rate(vllm:request_prefill_time_seconds_sum${S})`,
  `rate(vllm:request_decode_time_seconds_sum${S})`,
  `rate(vllm:request_max_num_generation_tokens_sum${S})`,
];

/** …/dashboards/grafana/performance_statistics.json. */
const PERFORMANCE = [
  ...LATENCIES.flatMap((name) => [
    ...['0.99', '0.95', '0.5'].map(
      (q) => `histogram_quantile(${q}, sum by(le) (rate(vllm:${name}_bucket[$__interval])))`,
    ),
    `sum(rate(vllm:${name}_sum[$__range])) / sum(rate(vllm:${name}_count[$__range]))`,
  ]),
  'rate(vllm:iteration_tokens_total_count[$__interval])',
  'group by (model_name) (vllm:generation_tokens_total)',
];

const DEPLOYMENT = '{model_name=~"$Deployment_id"}';

/** …/dashboards/grafana/query_statistics.json. */
const QUERY_STATISTICS = [
  `sum by (model_name) (rate(vllm:request_success_total${DEPLOYMENT}[$__rate_interval]))`,
  `sum by (model_name) (increase(vllm:request_success_total${DEPLOYMENT}[$__range]))`,
  ...['e2e_request_latency_seconds', 'request_prompt_tokens'].flatMap((name) =>
    ['0.99', '0.95', '0.5'].map(
      (q) =>
        `histogram_quantile(${q}, sum by(le, model_name) (rate(vllm:${name}_bucket${DEPLOYMENT}[$__interval])))`,
    ),
  ),
  `sum by (model_name) (rate(vllm:prompt_tokens_total${DEPLOYMENT}[$__interval]))`,
  `sum by (model_name) (rate(vllm:generation_tokens_total${DEPLOYMENT}[$__interval]))`,
];

/** The queries of vLLM's own boards, as the reference lists them. */
export function vllmBoardQueries(): BoardQuery[] {
  const boards = {
    'grafana.json': GRAFANA,
    'performance_statistics.json': PERFORMANCE,
    'query_statistics.json': QUERY_STATISTICS,
  };
  return Object.entries(boards).flatMap(([board, queries]) =>
    queries.map((expr) => ({ board, panel: '', expr })),
  );
}

/** The query as Grafana would send it for a board of a minute. */
export function filledIn(expr: string, model: string): string {
  return expr
    .replaceAll(/\$__(rate_)?interval/g, '10s')
    .replaceAll('$__range', '60s')
    .replaceAll('$namespace', '.*')
    .replaceAll('$job', 'baton')
    .replaceAll(/\$(model_name|Deployment_id)/g, model);
}

/** Names of metrics in an expression: those with a colon, or of the families that have none. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '""')
    .replace(/\b(by|on|group_left|ignoring) \([^)]*\)/g, '');
  const names = bare.match(/\b(?:[a-z_]+:[a-z_0-9:]+|(?:http|process|nodejs)_[a-z_]+)\b/g) ?? [];
  return [...new Set(names)];
}
