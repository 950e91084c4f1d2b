/**
 * A flag of the load generator itself. Names and defaults are those of `vllm bench serve` where
 * those exist.
 */
interface FlagRow {
  /** Left out: a switch. `...` at the end: several values. */
  readonly value?: string;
  readonly help: string;
  readonly group: 'Server' | 'Load' | 'Result';
}

export const BENCH_FLAGS = {
  baseUrl: {
    value: 'url',
    help: 'Server to load, without the path of the endpoint (default: http://127.0.0.1:8000).',
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
    help: 'Path of the requests (default: that of the backend, /v1/completions …).',
    group: 'Server',
  },
  model: {
    value: 'name',
    help: 'Model to ask for (default: the first of /v1/models).',
    group: 'Server',
  },
  apiKey: {
    value: 'key',
    help: 'Sent as a bearer token (default: OPENAI_API_KEY of the environment).',
    group: 'Server',
  },
  header: { value: 'name=value...', help: 'Headers of every request.', group: 'Server' },
  extraBody: {
    value: 'json',
    help: 'Fields of every request, for example {"temperature": 0}.',
    group: 'Server',
  },
  readyCheckTimeoutSec: {
    value: 's',
    help: 'Wait so long for the server to answer /v1/models (default: 0).',
    group: 'Server',
  },
  datasetPath: { value: 'file', help: 'The same as --dataset-file.', group: 'Load' },
  maxConcurrency: {
    value: 'n',
    help: 'Most requests under way at once; further ones wait (default: no bound).',
    group: 'Load',
  },
  numWarmups: {
    value: 'n',
    help: 'Requests before the run that do not count (default: 0).',
    group: 'Load',
  },
  ignoreEos: {
    help: 'Ask for exactly the output lengths of the workload (default: on but for sharegpt).',
    group: 'Load',
  },
  noIgnoreEos: { help: 'Let answers end by themselves.', group: 'Load' },
  seed: { value: 'n', help: 'Seed of lengths, arrivals and words (default: 0).', group: 'Load' },
  requestTimeout: {
    value: 's',
    help: 'How long one request may take (default: 600).',
    group: 'Load',
  },
  requestIdPrefix: {
    value: 'text',
    help: 'Text before the number of the request in x-request-id (default: bench-<8 hex digits>-).',
    group: 'Load',
  },
  goodput: {
    value: 'name:ms...',
    help: 'Objectives of each request, for example ttft:500 tpot:50; also itl and e2el.',
    group: 'Result',
  },
  sloClass: {
    value: 'name:bounds...',
    help: 'Objectives of SLO classes (--slo-mix), for example interactive:ttft=500ms,tpot=50ms.',
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
    help: 'Write result.json, requests.csv and report.html into this folder.',
    group: 'Result',
  },
  saveResult: { help: 'Write the result into a JSON file.', group: 'Result' },
  saveDetailed: {
    help: 'Keep lengths, gaps, text and error of each request in the result.',
    group: 'Result',
  },
  resultDir: {
    value: 'dir',
    help: 'Folder of --save-result (default: this one).',
    group: 'Result',
  },
  resultFilename: {
    value: 'name',
    help: 'File of --save-result (default: <label>-<rate>qps-<model>-<date>.json).',
    group: 'Result',
  },
  label: { value: 'text', help: 'Name of the run (default: the backend).', group: 'Result' },
  metadata: { value: 'key=value...', help: 'Entries to put into the result.', group: 'Result' },
  disableTqdm: { help: 'Print no progress bar.', group: 'Result' },
} as const satisfies Record<string, FlagRow>;

export type BenchFlag = keyof typeof BENCH_FLAGS;

export const BENCH_ROWS = Object.entries(BENCH_FLAGS) as readonly [BenchFlag, FlagRow][];
