// The boards as code: what stands in dashboards/*.json is made from this by build.mjs.
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder as HeatmapBuilder } from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const SOURCE = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };
const WIDTH = 24;
const MODEL = 'model_name=~"$model_name"';
const QUANTILES = [0.5, 0.9, 0.99];

/** A number of engines by stage, which vLLM's families do not name; each engine once, however many pages show it. */
const byStage = (expression, how = 'sum') =>
  `${how} by (stage) (max by (stage, engine, replica) (${expression} * on (instance, engine, replica) group_left (stage) baton:engine_info))`;

const byEngine = (expression) =>
  `max by (stage, engine, replica) (${expression} * on (instance, engine, replica) group_left (stage) baton:engine_info)`;

const rate = (name, labels = MODEL) => `rate(${name}{${labels}}[$__rate_interval])`;

const quantiles = (family) =>
  QUANTILES.map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (${rate(`${family}_bucket`)}))`,
    legend: `p${quantile * 100}`,
  }));

const mean = (family, by, labels = MODEL) => {
  const sum = (part) => `sum${by ? ` by (${by})` : ''} (${rate(`${family}_${part}`, labels)})`;
  return `${sum('sum')} / ${sum('count')}`;
};

function queries(builder, targets) {
  targets.forEach(({ expr, legend }, index) => {
    const query = new DataqueryBuilder().expr(expr).refId(String.fromCharCode(65 + index));
    builder.withTarget(legend === undefined ? query : query.legendFormat(legend));
  });
  return builder;
}

/** `to`: unit, and what is unusual about the panel. */
function lines(title, to, targets) {
  const { unit, description, stacked = false } = typeof to === 'string' ? { unit: to } : to;
  const panel = new TimeseriesBuilder().title(title).unit(unit).datasource(SOURCE);
  panel
    .span(8)
    .height(8)
    .lineWidth(1)
    .fillOpacity(stacked ? 40 : 5)
    .min(0);
  if (stacked) panel.stacking(new StackingConfigBuilder().mode('normal').group('A'));
  if (description) panel.description(description);
  return queries(panel, targets);
}

function stat(title, unit, expr) {
  const panel = new StatBuilder().title(title).unit(unit).datasource(SOURCE);
  panel
    .span(4)
    .height(4)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  return queries(panel, [{ expr }]);
}

function heatmap(title, expr) {
  const panel = new HeatmapBuilder().title(title).datasource(SOURCE).span(8).height(8);
  panel.withTarget(
    new DataqueryBuilder().expr(expr).legendFormat('{{le}}').format('heatmap').refId('A'),
  );
  return panel;
}

function dashboard({ uid, title, description, rows }) {
  const board = new DashboardBuilder(title).uid(uid).description(description).tags(['baton']);
  board.refresh('5s').time({ from: 'now-15m', to: 'now' }).timezone('browser').readonly();
  board.withVariable(
    new DatasourceVariableBuilder('DS_PROMETHEUS').label('Prometheus').type('prometheus'),
  );
  board.withVariable(
    new QueryVariableBuilder('model_name')
      .label('Model')
      .datasource(SOURCE)
      .query('label_values(vllm:num_requests_running, model_name)')
      .refresh(2)
      .includeAll(true)
      .allValue('.*')
      .current({ text: 'All', value: '$__all' }),
  );
  // Built row by row: panels fill a line of 24 columns and break to the next.
  let top = 0;
  for (const { name, panels } of rows) {
    board.withRow(new RowBuilder(name).gridPos({ x: 0, y: top, w: WIDTH, h: 1 }));
    top = placed(board, panels, top + 1);
  }
  return board.build();
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

const perStage = { legend: '{{stage}}' };
const perEngine = { legend: '{{stage}} {{engine}}{{replica}}' };

/** How a P/D cluster serves: latencies and what they are made of, the two pools, and the hand-over between them. */
export function servingBoard() {
  return dashboard({
    uid: 'baton-pd',
    title: 'Baton: prefill and decode',
    description: 'Queues, batches, KV and hand-overs per pool, and what a first token waits for.',
    rows: [
      {
        name: 'Service',
        panels: [
          stat('Requests', 'reqps', `sum(${rate('vllm:request_success_total')})`),
          stat(
            'Goodput',
            'percentunit',
            `sum(${rate('baton:requests_good_total')}) / sum(${rate('vllm:request_success_total')})`,
          ),
          stat('Output', 'short', `sum(${rate('vllm:generation_tokens_total')})`),
          stat('TTFT p99', 's', quantiles('vllm:time_to_first_token_seconds')[2].expr),
          stat('ITL p99', 's', quantiles('vllm:inter_token_latency_seconds')[2].expr),
          stat('Waiting', 'short', `sum(vllm:num_requests_waiting{${MODEL}})`),
          lines('Time to first token', 's', quantiles('vllm:time_to_first_token_seconds')),
          lines('Inter-token latency', 's', quantiles('vllm:inter_token_latency_seconds')),
          lines('End to end', 's', quantiles('vllm:e2e_request_latency_seconds')),
          lines(
            'Time to first token by part, mean',
            {
              unit: 's',
              stacked: true,
              description: 'The parts follow each other and sum up to the time to the first token.',
            },
            [{ expr: mean('baton:time_to_first_token_part_seconds', 'part'), legend: '{{part}}' }],
          ),
          lines('Requests by end', 'reqps', [
            {
              expr: `sum by (finished_reason) (${rate('vllm:request_success_total')})`,
              legend: '{{finished_reason}}',
            },
            { expr: `sum(${rate('baton:requests_good_total')})`, legend: 'good' },
          ]),
          lines('HTTP answers', 'reqps', [
            {
              expr: 'sum by (status) (rate(http_requests_total[$__rate_interval]))',
              legend: '{{status}}',
            },
          ]),
        ],
      },
      {
        name: 'Pools',
        panels: [
          lines(
            'Queue',
            { unit: 'short', description: 'Sequences without a batch yet, in queues and engines.' },
            [{ expr: 'max by (stage) (baton:waiting_sequences)', ...perStage }],
          ),
          lines('Age of the oldest', 's', [
            { expr: 'max by (stage) (baton:queue_age_seconds)', ...perStage },
          ]),
          lines('In batches', 'short', [
            { expr: byStage(`vllm:num_requests_running{${MODEL}}`), ...perStage },
          ]),
          lines('KV cache in use', 'percentunit', [
            { expr: byEngine(`vllm:kv_cache_usage_perc{${MODEL}}`), ...perEngine },
          ]),
          lines('Tokens per step, mean', 'short', [
            {
              expr: `${byStage(rate('vllm:iteration_tokens_total_sum'))} / ${byStage(rate('vllm:iteration_tokens_total_count'))}`,
              ...perStage,
            },
          ]),
          lines('Steps', 'ops', [{ expr: byStage(rate('baton:steps_total')), ...perStage }]),
          lines('Prompt tokens by source', { unit: 'short', stacked: true }, [
            {
              expr: `sum by (source) (${rate('vllm:prompt_tokens_by_source_total')})`,
              legend: '{{source}}',
            },
          ]),
          lines('Generated tokens', 'short', [
            { expr: byStage(rate('vllm:generation_tokens_total')), ...perStage },
          ]),
          lines('Prefix cache hits', 'percentunit', [
            {
              expr: `${byStage(rate('vllm:prefix_cache_hits_total'))} / ${byStage(rate('vllm:prefix_cache_queries_total'))}`,
              ...perStage,
            },
          ]),
          lines('Waiting in engines by reason', 'short', [
            {
              expr: `sum by (reason) (vllm:num_requests_waiting_by_reason{${MODEL}})`,
              legend: '{{reason}}',
            },
          ]),
          lines('Preemptions', 'ops', [
            { expr: byStage(rate('vllm:num_preemptions_total')), ...perStage },
          ]),
          lines('Cached tokens computed again', 'ops', [
            { expr: byStage(rate('vllm:prompt_tokens_recomputed_total')), ...perStage },
          ]),
          lines(
            'Placed by a policy',
            { unit: 'ops', description: 'Empty where engines pull their jobs.' },
            [
              {
                expr: 'sum by (stage, engine) (rate(baton:placement_decisions_total[$__rate_interval]))',
                ...perEngine,
              },
            ],
          ),
        ],
      },
      {
        name: 'Hand-over',
        panels: [
          lines('Under way', { unit: 'short', stacked: true }, [
            { expr: 'sum by (state) (baton:kv_handoffs)', legend: '{{state}}' },
          ]),
          lines('Held blocks', 'short', [{ expr: byEngine('baton:kv_held_blocks'), ...perEngine }]),
          lines('Transfer time', 's', quantiles('vllm:nixl_xfer_time_seconds')),
          lines('Transferred', 'Bps', [
            { expr: `sum(${rate('vllm:nixl_bytes_transferred_sum')})`, legend: 'bytes' },
          ]),
          lines('Ends of holdings', 'ops', [
            { expr: `sum by (reason) (${rate('baton:kv_releases_total')})`, legend: '{{reason}}' },
          ]),
          lines('Ends of fetches', 'ops', [
            { expr: `sum by (outcome) (${rate('baton:kv_fetches_total')})`, legend: '{{outcome}}' },
          ]),
          heatmap(
            'Prompt lengths',
            `sum by (le) (increase(vllm:request_prompt_tokens_bucket{${MODEL}}[$__rate_interval]))`,
          ),
          heatmap(
            'Output lengths',
            `sum by (le) (increase(vllm:request_generation_tokens_bucket{${MODEL}}[$__rate_interval]))`,
          ),
        ],
      },
    ],
  });
}

/** Whether the simulation can be trusted: engines, clocks, processes, and laws that must hold. */
export function healthBoard() {
  return dashboard({
    uid: 'baton-health',
    title: 'Baton: health',
    description: 'Engines and processes, how true the clocks are, and what must be zero.',
    rows: [
      {
        name: 'Cluster',
        panels: [
          stat('Engines ready', 'short', 'max(sum by (instance) (baton:engines{state="ready"}))'),
          stat('Engines lost', 'short', 'sum(baton:engines_lost_total)'),
          stat('Restarts', 'short', 'sum(max by (engine, replica) (baton:worker_restarts_total))'),
          stat('Lost blocks', 'short', 'sum(max by (engine, replica) (baton:kv_lost_blocks))'),
          stat('Lost sequences', 'short', 'sum(baton:sequences_unaccounted)'),
          stat('Leases expired', 'short', 'sum(baton:kv_releases_total{reason="expired"})'),
          stat('Read after expiry', 'short', 'sum(vllm:nixl_num_notifications_after_expiry_total)'),
          lines('Engines', 'short', [
            { expr: 'max by (stage, state) (baton:engines)', legend: '{{stage}} {{state}}' },
          ]),
          lines('Runs', 'ops', [
            { expr: `sum(${rate('baton:runs_started_total')})`, legend: 'started' },
            { expr: `sum(${rate('baton:runs_failed_total')})`, legend: 'failed' },
            { expr: `sum(${rate('baton:runs_aborted_total')})`, legend: 'aborted' },
            { expr: `sum(${rate('baton:job_locks_lost_total')})`, legend: 'lock lost' },
          ]),
          lines('Placed again, refused', 'ops', [
            {
              expr: 'sum(rate(baton:rehomed_jobs_total[$__rate_interval]))',
              legend: 'placed again',
            },
            {
              expr: 'sum(rate(baton:slo_refusals_total[$__rate_interval]))',
              legend: 'refused for its prediction',
            },
            {
              expr: 'sum(rate(baton:slow_readers_total[$__rate_interval]))',
              legend: 'slow reader',
            },
          ]),
          lines('Faults injected', 'ops', [
            {
              expr: 'sum by (fault, stage) (rate(baton:faults_injected_total[$__rate_interval]))',
              legend: '{{fault}} {{stage}}',
            },
          ]),
        ],
      },
      {
        name: 'Clocks and overhead',
        panels: [
          lines(
            'Clock lag',
            {
              unit: 's',
              description:
                'How late steps end; above 5 ms the distributions are not those of the simulation.',
            },
            [{ expr: byEngine('baton:clock_lag_seconds'), ...perEngine }],
          ),
          lines(
            'Job delivery, p50 and p99',
            's',
            quantiles('baton:job_delivery_seconds').filter((_q, i) => i !== 1),
          ),
          lines('Overhead on the first token', 's', quantiles('baton:request_overhead_seconds')),
          lines('From step to client', 's', quantiles('baton:frame_delay_seconds')),
          lines('Time per output token: meant and seen', 's', [
            { expr: mean('baton:intended_time_per_output_token_seconds'), legend: 'meant' },
            { expr: mean('vllm:request_time_per_output_token_seconds'), legend: 'seen' },
          ]),
          lines(
            'Steps outside of the measured range',
            { unit: 'ops', description: 'Empty where step times have no range.' },
            [
              {
                expr: byStage('rate(baton:steps_outside_range_total[$__rate_interval])'),
                ...perStage,
              },
            ],
          ),
        ],
      },
      {
        name: 'Processes',
        panels: [
          lines('CPU', 'percentunit', [
            {
              expr: 'rate(process_cpu_seconds_total[$__rate_interval])',
              legend: '{{job}} {{instance}}',
            },
          ]),
          lines('Memory', 'bytes', [
            { expr: 'process_resident_memory_bytes', legend: '{{job}} {{instance}}' },
          ]),
          lines('Event loop lag', 's', [
            { expr: 'baton:api_event_loop_lag_seconds', legend: 'api {{instance}}' },
            { expr: 'baton:event_loop_lag_seconds', legend: '{{instance}}' },
          ]),
          lines('Length of an event loop turn', 's', [
            {
              expr: 'rate(baton:api_event_loop_busy_seconds_total[$__rate_interval]) / rate(baton:api_event_loop_turns_total[$__rate_interval])',
              legend: 'api {{instance}}',
            },
          ]),
          lines('Wait of a new connection', 's', [
            {
              expr: 'baton:api_accept_queue / rate(baton:api_connections_total[$__rate_interval])',
              legend: 'to be accepted, {{instance}}',
            },
            {
              expr: 'histogram_quantile(0.99, sum by (le) (rate(baton:api_accept_to_request_seconds_bucket[$__rate_interval])))',
              legend: 'to be handled, 99th percentile',
            },
          ]),
        ],
      },
    ],
  });
}
