import {
  choice,
  duration,
  integer,
  number,
  optionalDuration,
  optionalNumber,
  optionalText,
} from '../option';

const MILLISECONDS = [0, 3_600_000] as const;

/** Step times. The latency options are named like those of llm-d-inference-sim. */
export const STEP_TIME = {
  stepTime: choice(
    [
      'auto',
      'composed',
      'calibrated',
      'roofline',
      'constant',
      'per-token',
      'table',
      'polynomial',
      'blis',
    ],
    'auto',
    {
      help:
        'Step-time model. auto uses the model of step_time_file. Without a file it uses constant ' +
        'or per-token if their times are set, else composed if the operators of the GPU were ' +
        'measured, else calibrated if the shipped table has the model, GPU and ' +
        'tensor_parallel_size, else roofline. composed adds measured operators; constant and ' +
        'per-token use time_to_first_token and the times after it; table is a CSV grid; ' +
        'polynomial has fitted coefficients, blis those of BLIS.',
    },
  ),
  stepNoise: choice(['none', 'measured'], 'none', {
    help:
      'Random variation of steps with equal batches. measured draws each duration around the ' +
      'model, with the spread in the profile or in repeated measurements of your own ' +
      'operators; it is refused if no spread is known.',
  }),
  /** The reaction to a step outside of the measured or fitted range. */
  stepTimeExtrapolation: choice(['warn', 'refuse'], 'warn', {
    help:
      'What happens when a step lies outside the range for which its step-time model was ' +
      'measured or fitted: warn reports it once and counts it, refuse (or ' +
      '--refuse-extrapolation) ends with an error.',
    flagFor: { flag: '--refuse-extrapolation', value: 'refuse' },
  }),
  /** Fixed milliseconds added to each step of composed, calibrated and roofline. */
  stepOverheadMs: optionalDuration(MILLISECONDS, {
    help:
      'Engine overhead added to each step of composed, calibrated and roofline (scheduling, ' +
      'sampling, launch).',
    unit: 'ms, simulated',
    unset: "the model's documented residual",
  }),
  mixedDecodeFactor: optionalNumber([1, 100], {
    help:
      'Factor on the time of decode attention in steps that also prefill. 1 is an assumption; ' +
      'measured GPUs lie between 1.75 and 3.2.',
    unset: "the profile's own, else 1",
  }),
  stepTimeFile: optionalText({
    help:
      'File of the step-time model: a profile written by `baton calibrate`, a CSV grid, ' +
      'polynomial coefficients of xPyD-sim, or coefficients of BLIS.',
    unset: 'what is built in; table: required',
  }),
  operators: optionalText({
    help:
      'Folder of your own measured operators for composed steps, <system>/<operator>.csv as in ' +
      'data/operators. Your points take precedence over the shipped ones (docs/calibrate.md).',
    unset: 'only the shipped tables',
  }),
  /** For replay and plan only: a live API is itself the server in front of its engines. */
  frontend: optionalText({
    help:
      'In replay and plan: server in front of the engines, that is, the time of a request ' +
      'outside the engine. vllm takes 5.7 ms and 6.3 us per prompt token, and again at a ' +
      'hand-over; none takes no time; otherwise a YAML file or its fields in braces: ' +
      'request_ms, prompt_token_us, request_busy_ms, prompt_token_busy_us, dispatch ' +
      '(docs/front-end.md). A live cluster does not use it.',
    unset:
      'what step_time_file was fitted with, else vllm; none when a recording of ' +
      "simulated engines is replayed, and with constant and per-token, a client's times",
  }),
  apiServerCount: integer(1, [1, 1_024], {
    help:
      'In replay and plan: number of server processes of each engine. Each serves one request ' +
      'at a time, for the busy part of its pass. A live cluster does not use it.',
  }),
  timeToFirstToken: duration(0, MILLISECONDS, {
    help: 'With step_time constant: duration of a step with a prompt of any length.',
    unit: 'ms, simulated',
  }),
  timeToFirstTokenStdDev: duration(0, MILLISECONDS, {
    help: 'Standard deviation of time_to_first_token; samples stay within 70 % of the mean.',
    unit: 'ms, simulated',
  }),
  interTokenLatency: duration(0, MILLISECONDS, {
    help: 'With step_time constant or per-token: time between two tokens of a sequence.',
    unit: 'ms, simulated',
  }),
  interTokenLatencyStdDev: duration(0, MILLISECONDS, {
    help: 'Standard deviation of inter_token_latency.',
    unit: 'ms, simulated',
  }),
  prefillOverhead: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: fixed part of the time of a prompt.',
    unit: 'ms, simulated',
  }),
  prefillTimePerToken: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: time per prompt token that is not in the prefix cache.',
    unit: 'ms, simulated',
  }),
  prefillTimeStdDev: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: standard deviation of the time of a prompt.',
    unit: 'ms, simulated',
  }),
  timeFactorUnderLoad: number(1, [1, 1_000], {
    help:
      'With step_time constant or per-token: factor on all times when max_num_seqs sequences ' +
      'run. It is 1 for a single sequence, and linear in between.',
  }),
  /** Replaces base latency plus bytes over bandwidth. */
  kvCacheTransferLatency: optionalDuration(MILLISECONDS, {
    help: 'Time of a KV transfer of any size.',
    unit: 'ms, simulated',
    unset: 'computed from link, missing bytes and active transfers',
  }),
  kvCacheTransferTimePerToken: optionalDuration(MILLISECONDS, {
    help: 'Time of a KV transfer per transferred token.',
    unit: 'ms, simulated',
    unset: 'computed from link, missing bytes and active transfers',
  }),
  kvHandshakeTime: duration(0, MILLISECONDS, {
    help:
      'Duration of the first contact between an engine and another from which it fetches KV; ' +
      'reads wait until it ends. 0.2 s to 2 s were measured with NIXL ' +
      '(docs/kv-transfer-links.md), too wide a range for a default other than 0.',
    unit: 'ms, simulated',
  }),
  kvDescriptorTime: number(0, [0, 1_000_000], {
    help:
      'Time to post one descriptor of a KV transfer. A rank has one descriptor per block and ' +
      'layer, for K and for V. About 2.4 was measured where none could be merged ' +
      "(docs/kv-transfer-links.md). The default is 0, because the link's latency includes the " +
      'posting of typical transfers.',
    unit: 'µs, simulated',
  }),
} as const;
