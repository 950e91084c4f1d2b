/**
 * A flag of the load generator. Names and defaults are those of `vllm bench serve` where it has
 * such a flag.
 */
interface FlagRow {
  /** Undefined: a switch without a value. `...` at the end: several values. */
  readonly value?: string;
  readonly help: string;
  readonly group: 'Server' | 'Load' | 'Result';
}

const BENCH_FLAGS = {
  baseUrl: {
    value: 'url',
    help: 'URL of the server, without the path of the endpoint (default: http://127.0.0.1:8000).',
    group: 'Server',
  },
  host: { value: 'name', help: 'Host of the server, in place of --base-url.', group: 'Server' },
  port: { value: 'n', help: 'Port of the server at --host (default: 8000).', group: 'Server' },
  backend: {
    value: 'name',
    help: 'openai (completions; vllm is the same), openai-chat or responses (default: openai).',
    group: 'Server',
  },
  endpoint: {
    value: 'path',
    help: 'Path of the requests (default: the path of the backend, such as /v1/completions).',
    group: 'Server',
  },
  model: {
    value: 'name',
    help: 'Model in the requests (default: the first of /v1/models).',
    group: 'Server',
  },
  apiKey: {
    value: 'key',
    help: 'API key, sent as a bearer token (default: the environment variable OPENAI_API_KEY).',
    group: 'Server',
  },
  header: {
    value: 'name=value...',
    help: 'HTTP headers to add to every request (default: none).',
    group: 'Server',
  },
  extraBody: {
    value: 'json',
    help: 'Additional fields of every request, for example {"temperature": 0}.',
    group: 'Server',
  },
  readyCheckTimeoutSec: {
    value: 's',
    help: 'Seconds to wait for an answer of /v1/models before the run (default: 0).',
    group: 'Server',
  },
  maxConcurrency: {
    value: 'n',
    help: 'Maximum number of requests under way; further requests wait (default: no limit).',
    group: 'Load',
  },
  numWarmups: {
    value: 'n',
    help: 'Warm-up requests before the run, not part of the result (default: 0).',
    group: 'Load',
  },
  ignoreEos: {
    help: 'Request the exact output lengths of the workload (default: on, except for sharegpt).',
    group: 'Load',
  },
  noIgnoreEos: { help: 'Let answers end before the output length of the workload.', group: 'Load' },
  seed: { value: 'n', help: 'Seed of lengths, arrivals and words (default: 0).', group: 'Load' },
  requestTimeout: {
    value: 's',
    help: 'Time limit of one request, in seconds (default: 600).',
    group: 'Load',
  },
  requestIdPrefix: {
    value: 'text',
    help: 'Prefix of the request number in x-request-id (default: bench-<8 hex digits>-).',
    group: 'Load',
  },
  goodput: {
    value: 'name:ms...',
    help: 'Latency targets of each request in ms: ttft, tpot, itl or e2el, as in ttft:500 tpot:50.',
    group: 'Result',
  },
  slo: {
    value: 'bounds',
    help: 'Latency targets of each request, as in ttft=500ms,tpot=50ms (default: none).',
    group: 'Result',
  },
  sloClass: {
    value: 'name:bounds...',
    help: 'Latency targets of SLO classes (--slo-mix), as in interactive:ttft=500ms,tpot=50ms.',
    group: 'Result',
  },
  percentileMetrics: {
    value: 'names',
    help: 'Latencies to report (default: ttft,tpot,itl,e2el).',
    group: 'Result',
  },
  metricPercentiles: {
    value: 'list',
    help: 'Percentiles to report (default: 99).',
    group: 'Result',
  },
  json: { help: 'Print the result as one JSON document.', group: 'Result' },
  out: {
    value: 'dir',
    help: 'Write result.json, requests.csv and report.html to this folder.',
    group: 'Result',
  },
  saveResult: { help: 'Write the result to a JSON file.', group: 'Result' },
  saveDetailed: {
    help: 'Add the lengths, gaps, text and error of each request to the result file.',
    group: 'Result',
  },
  resultDir: {
    value: 'dir',
    help: 'Folder of --save-result (default: the current one).',
    group: 'Result',
  },
  resultFilename: {
    value: 'name',
    help: 'File of --save-result (default: <label>-<rate>qps-<model>-<date>.json).',
    group: 'Result',
  },
  label: { value: 'text', help: 'Name of the run (default: the backend).', group: 'Result' },
  metadata: {
    value: 'key=value...',
    help: 'Additional entries of the result file (default: none).',
    group: 'Result',
  },
  disableTqdm: { help: 'Hide the progress bar.', group: 'Result' },
} as const satisfies Record<string, FlagRow>;

export type BenchFlag = keyof typeof BENCH_FLAGS;

export const BENCH_ROWS = Object.entries(BENCH_FLAGS) as readonly [BenchFlag, FlagRow][];
