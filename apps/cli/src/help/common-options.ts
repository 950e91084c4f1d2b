const WORKLOAD = ['--trace', '--limit', '--dataset', '--num-prompts', '--request-rate'];
const LENGTHS = ['--random-input-len', '--random-output-len'];
const MODEL = ['--model', '--gpu', '--quantization'];
const LOAD = [
  ...['--backend', '--dataset', '--trace', '--num-prompts', '--request-rate', ...LENGTHS],
  ...['--max-concurrency', '--num-warmups', '--seed', '--goodput', '--out', '--json'],
];
const REPLAY = [
  ...[...WORKLOAD, ...LENGTHS, '--topology', ...MODEL, '--tensor-parallel-size'],
  ...['--max-num-seqs', '--placement', '--concurrency', '--slo', '--out', '--json', '--config'],
];

/**
 * The options that most runs need, in the order of the short help. A command that is not here has
 * few options, and `--help` shows them all.
 */
export const COMMON_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  up: [
    ...[...MODEL, '--tensor-parallel-size', '--max-model-len', '--max-num-seqs', '--host'],
    ...['--port', '--api-key', '--speedup', '--seed', '--placement', '--autoscaler', '--faults'],
    ...['--text-model', '--expose-engines', '--enable-admin', '--redis', '--record', '--config'],
  ],
  bench: ['--base-url', '--model', '--api-key', ...LOAD],
  demo: LOAD,
  replay: REPLAY,
  plan: [
    ...['--gpus', '--tp', '--space', '--slo', '--attainment', ...WORKLOAD, ...LENGTHS],
    ...[...MODEL, '--max-num-seqs', '--cost', '--out', '--json', '--config'],
  ],
  policy: ['--kind', '--live', ...REPLAY],
};
