// Whether the simulation can be trusted, as a board; build.mjs writes it.
import {
  byEngine,
  byStage,
  dashboard,
  lines,
  mean,
  perEngine,
  perEvent,
  perStage,
  quantiles,
  rate,
  stat,
} from './panels.mjs';

/** Whether the simulation can be trusted: engines, clocks, processes, and laws that must hold. */
export function healthBoard() {
  return dashboard({
    uid: 'baton-health',
    title: 'Baton: health',
    description:
      'Engines and processes, the lateness of their clocks, and counters that must be zero.',
    rows: [
      {
        name: 'Cluster',
        panels: [
          stat(
            'Engines ready',
            {
              unit: 'short',
              warn: 1,
              bad: 0.5,
              description: 'Number of engines that take requests.',
            },
            'sum(max by (namespace, job) (sum by (namespace, job, instance) (baton:engines{state="ready"})))',
          ),
          stat(
            'Engines lost',
            {
              unit: 'short',
              warn: 1,
              bad: 3,
              description: 'Number of engines that left without a drain since the API started.',
            },
            'sum(max by (namespace, job, stage) (baton:engines_lost_total))',
          ),
          stat(
            'Worker restarts',
            {
              unit: 'short',
              warn: 1,
              bad: 3,
              description: 'Number of worker processes that ended and were started again.',
            },
            'sum(max by (namespace, job, engine, replica) (baton:worker_restarts_total))',
          ),
          stat(
            'Lost blocks',
            {
              unit: 'short',
              warn: 1,
              bad: 1,
              description: 'KV blocks without an owner. Any other value than 0 is a bug.',
            },
            'sum(max by (namespace, job, engine, replica) (baton:kv_lost_blocks))',
          ),
          stat(
            'Lost sequences',
            {
              unit: 'short',
              warn: 1,
              bad: 1,
              description:
                'Sequences that have neither ended nor run. Any other value than 0 is a bug.',
            },
            'sum(baton:sequences_unaccounted)',
          ),
          stat(
            'Leases expired',
            {
              unit: 'short',
              warn: 1,
              bad: 3,
              description:
                'Holdings since the start whose lease ended before an engine fetched their KV.',
            },
            'sum(baton:kv_releases_total{reason="expired"})',
          ),
          stat(
            'Read after expiry',
            {
              unit: 'short',
              warn: 1,
              bad: 3,
              description:
                'Read notifications that arrived after the lease of their KV had expired.',
            },
            'sum(vllm:nixl_num_notifications_after_expiry_total)',
          ),
          lines(
            'Engines by state',
            {
              unit: 'short',
              description:
                'Engines by stage and state. A draining engine finishes its requests and leaves.',
            },
            [{ expr: 'max by (stage, state) (baton:engines)', legend: '{{stage}} {{state}}' }],
          ),
          lines(
            'Runs of jobs',
            {
              unit: 'ops',
              description:
                'Runs per second that started, failed, were aborted, or lost the lock of their job. A job whose lock is lost runs again.',
            },
            [
              { expr: `sum(${rate('baton:runs_started_total')})`, legend: 'started' },
              { expr: `sum(${rate('baton:runs_failed_total')})`, legend: 'failed' },
              { expr: `sum(${rate('baton:runs_aborted_total')})`, legend: 'aborted' },
              { expr: `sum(${rate('baton:job_locks_lost_total')})`, legend: 'lock lost' },
            ],
          ),
          lines(
            'Jobs placed again, requests refused',
            {
              unit: 'ops',
              description:
                'Jobs per second that moved from a lost engine to another, and requests per second that were refused or ended.',
            },
            [
              {
                expr: 'sum(rate(baton:rehomed_jobs_total[$__rate_interval]))',
                legend: 'placed again',
              },
              {
                expr: 'sum(rate(baton:slo_refusals_total[$__rate_interval]))',
                legend: 'refused for its predicted TTFT',
              },
              {
                expr: 'sum(rate(baton:slow_readers_total[$__rate_interval]))',
                legend: 'ended for a slow reader',
              },
            ],
          ),
          lines(
            'Faults injected',
            { unit: 'ops', description: 'Injected faults per second. Empty without fault rules.' },
            [
              {
                expr: 'sum by (fault, stage) (rate(baton:faults_injected_total[$__rate_interval]))',
                legend: '{{fault}} {{stage}}',
              },
            ],
          ),
        ],
      },
      {
        name: 'Clocks and overhead',
        panels: [
          lines(
            'Clock lag',
            {
              unit: 's',
              bad: 0.005,
              description:
                'Time by which steps end late. Above 5 ms, measured latencies exceed the simulated ones.',
            },
            [{ expr: byEngine('baton:clock_lag_seconds'), ...perEngine }],
          ),
          lines(
            'Job delivery, p50 and p99',
            {
              unit: 's',
              description:
                'Wall time from the cause of a job (arrival, hold) to its arrival at an engine.',
            },
            quantiles('baton:job_delivery_seconds').filter((_q, i) => i !== 1),
          ),
          lines(
            'Overhead on the first token',
            {
              unit: 's',
              description:
                'Part of the time to first token that comes from Baton, not from the simulation.',
            },
            quantiles('baton:request_overhead_seconds'),
          ),
          lines(
            'Delay from the end of a step to the client',
            {
              unit: 's',
              description: 'From the end of a step until its tokens are written to the connection.',
            },
            quantiles('baton:frame_delay_seconds'),
          ),
          lines(
            'Time per output token, simulated and measured',
            { unit: 's', description: 'Means. The lines agree while the machine keeps up.' },
            [
              { expr: mean('baton:intended_time_per_output_token_seconds'), legend: 'simulated' },
              { expr: mean('vllm:request_time_per_output_token_seconds'), legend: 'measured' },
            ],
          ),
          lines(
            'Steps outside the measured range',
            {
              unit: 'ops',
              description:
                'Steps whose time is extrapolated. Empty if the step-time model has no range.',
            },
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
          lines(
            'CPU',
            { unit: 'percentunit', description: 'Processor time by process; 100 % is one core.' },
            [
              {
                expr: 'rate(process_cpu_seconds_total[$__rate_interval])',
                legend: '{{job}} {{instance}}',
              },
            ],
          ),
          lines('Memory', { unit: 'bytes', description: 'Resident memory by process.' }, [
            { expr: 'process_resident_memory_bytes', legend: '{{job}} {{instance}}' },
          ]),
          lines(
            'Event loop lag',
            {
              unit: 's',
              description: 'How late the event loop of a process ran at most in the last minute.',
            },
            [
              { expr: 'baton:api_event_loop_lag_seconds', legend: 'api {{instance}}' },
              { expr: 'baton:event_loop_lag_seconds', legend: '{{instance}}' },
            ],
          ),
          lines(
            'Duration of an event loop turn',
            {
              unit: 's',
              description: 'Mean busy time of one turn of the API. A long turn delays all streams.',
            },
            [
              {
                expr: perEvent(
                  'rate(baton:api_event_loop_busy_seconds_total[$__rate_interval])',
                  'rate(baton:api_event_loop_turns_total[$__rate_interval])',
                ),
                legend: 'api {{instance}}',
              },
            ],
          ),
          lines(
            'Waiting time of new connections',
            {
              unit: 's',
              description:
                'From the accept of a connection until the API handles the request that came with it.',
            },
            [
              {
                expr: 'histogram_quantile(0.99, sum by (le) (rate(baton:api_accept_to_request_seconds_bucket[$__rate_interval]))) >= 0',
                legend: 'until handled, p99',
              },
            ],
          ),
        ],
      },
    ],
  });
}
