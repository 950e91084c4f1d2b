// How a P/D cluster serves, one row per question; build.mjs writes it.
import {
  byEngine,
  byStage,
  dashboard,
  heatmap,
  lines,
  mean,
  MODEL,
  perEngine,
  perEvent,
  perStage,
  quantiles,
  rate,
  share,
  stat,
} from './panels.mjs';

const TOKENS = 'suffix: tokens/s';
const SEQUENCES = 'suffix: sequences';

export function servingBoard() {
  return dashboard({
    uid: 'baton-pd',
    title: 'Baton: prefill and decode',
    description: 'SLO attainment, parts of the latency, load of each pool, and the hand-over.',
    rows: [
      { name: 'Am I meeting the SLO?', panels: slo() },
      { name: 'Where does time go?', panels: time() },
      { name: 'Which pool is short?', panels: pools() },
      { name: 'Is the hand-over healthy?', panels: handOver() },
      { name: 'What do requests look like?', panels: requests() },
    ],
  });
}

function slo() {
  return [
    stat(
      'Goodput',
      {
        unit: 'percentunit',
        warn: 0.95,
        bad: 0.9,
        description:
          'Share of the answered requests that meet the limits goodput_ttft and goodput_tpot. Red below 90 %.',
      },
      perEvent(
        `sum(${rate('baton:requests_good_total')})`,
        `sum(${rate('vllm:request_success_total')})`,
      ),
    ),
    stat(
      'TTFT p99',
      {
        unit: 's',
        warn: 1,
        bad: 2,
        description:
          '99 % of the requests get their first token within this time. Red from 2 s, the default of goodput_ttft.',
      },
      quantiles('vllm:time_to_first_token_seconds')[2].expr,
    ),
    stat(
      'ITL p99',
      {
        unit: 's',
        warn: 0.05,
        bad: 0.1,
        description:
          '99 % of the gaps between two tokens of a request are at most this long. Red from 100 ms.',
      },
      quantiles('vllm:inter_token_latency_seconds')[2].expr,
    ),
    stat(
      'Server errors',
      {
        unit: 'percentunit',
        warn: 0.01,
        bad: 0.05,
        description: 'Share of the HTTP answers with a 5xx status. Red from 5 %.',
      },
      'sum(rate(http_requests_total{status="5xx"}[$__rate_interval])) / (sum(rate(http_requests_total[$__rate_interval])) > 0) or vector(0)',
    ),
    stat(
      'Completed requests',
      { unit: 'reqps', description: 'Requests per second that ended with an answer.' },
      `sum(${rate('vllm:request_success_total')})`,
    ),
    stat(
      'Generated tokens',
      { unit: TOKENS, description: 'Output tokens per second of all engines.' },
      `sum(${rate('vllm:generation_tokens_total')})`,
    ),
    lines(
      'Time to first token',
      {
        unit: 's',
        description:
          'From the arrival of a request to its first token: queue, prefill, hand-over, first decode step.',
      },
      quantiles('vllm:time_to_first_token_seconds'),
    ),
    lines(
      'Inter-token latency',
      { unit: 's', description: 'Gap between two tokens of a request.' },
      quantiles('vllm:inter_token_latency_seconds'),
    ),
    lines(
      'End-to-end latency',
      { unit: 's', description: 'From the arrival of a request to its last token.' },
      quantiles('vllm:e2e_request_latency_seconds'),
    ),
    lines(
      'Requests by finish reason',
      {
        unit: 'reqps',
        description:
          'Ended requests per second. good: those that meet goodput_ttft and goodput_tpot.',
      },
      [
        {
          expr: `sum by (finished_reason) (${rate('vllm:request_success_total')})`,
          legend: '{{finished_reason}}',
        },
        { expr: `sum(${rate('baton:requests_good_total')})`, legend: 'good' },
      ],
    ),
    lines(
      'HTTP answers',
      {
        unit: 'reqps',
        description: 'Answers per second by class of status. 4xx includes refusals with 429.',
      },
      [
        {
          expr: 'sum by (status) (rate(http_requests_total[$__rate_interval]))',
          legend: '{{status}}',
        },
      ],
    ),
  ];
}

function time() {
  return [
    lines(
      'Time to first token by part, mean',
      {
        unit: 's',
        stacked: true,
        description: 'The parts follow each other and add up to the time to first token.',
      },
      [{ expr: mean('baton:time_to_first_token_part_seconds', 'part'), legend: '{{part}}' }],
    ),
    lines(
      'Age of the oldest waiting request',
      {
        unit: 's',
        bad: 30,
        description: 'Longest wait of a queued request, by stage. An alert fires above 30 s.',
      },
      [{ expr: 'max by (stage) (baton:queue_age_seconds)', ...perStage }],
    ),
    lines(
      'Tokens per step, mean',
      {
        unit: 'suffix: tokens',
        description: 'Computed prompt tokens and generated tokens of one engine step.',
      },
      [
        {
          expr: perEvent(
            byStage(rate('vllm:iteration_tokens_total_sum')),
            byStage(rate('vllm:iteration_tokens_total_count')),
          ),
          ...perStage,
        },
      ],
    ),
    lines(
      'Steps',
      {
        unit: 'suffix: steps/s',
        description: 'Engine steps per second, all engines of a stage together.',
      },
      [{ expr: byStage(rate('baton:steps_total')), ...perStage }],
    ),
    lines(
      'Prefix cache hits',
      {
        unit: 'percentunit',
        description: 'Share of the prompt tokens that an engine found in its prefix cache.',
      },
      [
        {
          expr: share(
            byStage(rate('vllm:prefix_cache_hits_total')),
            byStage(rate('vllm:prefix_cache_queries_total')),
          ),
          ...perStage,
        },
      ],
    ),
    lines(
      'Preemptions per request, mean',
      {
        unit: 'suffix: preemptions',
        description:
          'How often a finished request was preempted. Each time, its KV is computed again.',
      },
      [
        {
          expr: share(
            byStage(rate('vllm:request_num_preemptions_sum')),
            byStage(rate('vllm:request_num_preemptions_count')),
          ),
          ...perStage,
        },
      ],
    ),
  ];
}

function pools() {
  return [
    lines(
      'Waiting by pool',
      {
        unit: SEQUENCES,
        description:
          'Sequences that wait for a batch, in queues and in engines. A line that keeps rising shows a pool with too few engines.',
      },
      [{ expr: 'max by (stage) (baton:waiting_sequences)', ...perStage }],
    ),
    lines(
      'Running in batches',
      { unit: SEQUENCES, description: 'Sequences in the batches of all engines of a stage.' },
      [{ expr: byStage(`vllm:num_requests_running{${MODEL}}`), ...perStage }],
    ),
    lines(
      'KV cache in use',
      {
        unit: 'percentunit',
        bad: 0.95,
        description:
          'Share of the KV blocks in use, by engine. Above 95 %, sequences wait or are preempted.',
      },
      [{ expr: byEngine(`vllm:kv_cache_usage_perc{${MODEL}}`), ...perEngine }],
    ),
    lines(
      'Waiting in engines by reason',
      {
        unit: SEQUENCES,
        description:
          'Waiting sequences by reason. capacity: no slot or no KV block is free. deferred: the KV is in transfer.',
      },
      [
        {
          expr: `sum by (reason) (vllm:num_requests_waiting_by_reason{${MODEL}})`,
          legend: '{{reason}}',
        },
      ],
    ),
    lines(
      'Preemptions',
      {
        unit: 'ops',
        description:
          'Running sequences per second that lost their KV blocks to others and are computed again.',
      },
      [{ expr: byStage(rate('vllm:num_preemptions_total')), ...perStage }],
    ),
    lines(
      'Generated tokens',
      { unit: TOKENS, description: 'Output tokens per second by the stage that decodes them.' },
      [{ expr: byStage(rate('vllm:generation_tokens_total')), ...perStage }],
    ),
    lines(
      'Placement decisions',
      {
        unit: 'ops',
        description:
          'Decisions of the placement policy per second, by chosen engine. Empty under pull, where engines take their jobs.',
      },
      [
        {
          expr: byEngine('rate(baton:placement_decisions_total[$__rate_interval])'),
          ...perEngine,
        },
      ],
    ),
  ];
}

function handOver() {
  return [
    stat(
      'Leases expired',
      {
        unit: 'short',
        warn: 1,
        bad: 3,
        description:
          'Holdings whose lease ended in the last 5 minutes before an engine fetched their KV.',
      },
      'sum(increase(baton:kv_releases_total{reason="expired"}[5m])) or vector(0)',
    ),
    stat(
      'Failed transfers',
      {
        unit: 'short',
        warn: 1,
        bad: 3,
        description: 'KV transfers that failed in the last 5 minutes.',
      },
      'sum(increase(vllm:nixl_num_failed_transfers_total[5m])) or vector(0)',
    ),
    lines(
      'Hand-overs by state',
      {
        unit: 'suffix: hand-overs',
        stacked: true,
        description:
          'Hand-overs under way, by state. Prefill engines count held and being_read, decode engines the other states.',
      },
      [{ expr: 'sum by (state) (baton:kv_handoffs)', legend: '{{state}}' }],
    ),
    lines(
      'Blocks held for decode',
      {
        unit: 'suffix: blocks',
        description:
          'KV blocks that prefill engines hold for decode. Held blocks are not free for new prompts.',
      },
      [{ expr: byEngine('baton:kv_held_blocks'), ...perEngine }],
    ),
    lines(
      'Transfer time',
      { unit: 's', description: 'Duration of one KV transfer from prefill to decode.' },
      quantiles('vllm:nixl_xfer_time_seconds'),
    ),
    lines(
      'Transferred KV',
      { unit: 'Bps', description: 'Bytes of KV per second over all links.' },
      [{ expr: `sum(${rate('vllm:nixl_bytes_transferred_sum')})`, legend: 'bytes' }],
    ),
    lines(
      'Released holdings by reason',
      {
        unit: 'ops',
        description:
          'Holdings per second that prefill engines released. Healthy hand-overs end with read_done.',
      },
      [{ expr: `sum by (reason) (${rate('baton:kv_releases_total')})`, legend: '{{reason}}' }],
    ),
    lines(
      'Fetches by outcome',
      { unit: 'ops', description: 'Fetches of KV per second by decode engines.' },
      [{ expr: `sum by (outcome) (${rate('baton:kv_fetches_total')})`, legend: '{{outcome}}' }],
    ),
  ];
}

function requests() {
  return [
    heatmap(
      'Prompt lengths',
      'Tokens of the prompts; a darker field has more requests.',
      `sum by (le) (increase(vllm:request_prompt_tokens_bucket{${MODEL}}[$__rate_interval]))`,
    ),
    heatmap(
      'Output lengths',
      'Tokens of the answers; a darker field has more requests.',
      `sum by (le) (increase(vllm:request_generation_tokens_bucket{${MODEL}}[$__rate_interval]))`,
    ),
    lines(
      'Prompt tokens by source',
      {
        unit: TOKENS,
        stacked: true,
        description:
          'Prompt tokens per second that were computed, found in a prefix cache, or received from prefill.',
      },
      [
        {
          expr: `sum by (source) (${rate('vllm:prompt_tokens_by_source_total')})`,
          legend: '{{source}}',
        },
      ],
    ),
  ];
}
