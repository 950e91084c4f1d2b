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
        'Step-time model. auto takes the model of step_time_file; without a file constant or ' +
        'per-token when their times are set, else composed where operators of the GPU were ' +
        'measured, else calibrated where the shipped table has model, GPU and ' +
        'tensor_parallel_size, else roofline. composed adds up measured operators; constant ' +
        'and per-token use time_to_first_token and the times after it; table is a CSV grid; ' +
        'polynomial has fitted coefficients, blis those of BLIS.',
    },
  ),
  stepNoise: choice(['none', 'measured'], 'none', {
    help:
      'Scatter of steps with equal batches: measured draws each duration around the model, with ' +
      'the spread of the profile or of repeated measurements of own operators. It is refused ' +
      'when no spread is known.',
  }),
  /** The reaction to a step outside of the measured or fitted range. */
  stepTimeExtrapolation: choice(['warn', 'refuse'], 'warn', {
    help:
      'What happens when a step lies outside of the range that its step-time model was measured ' +
      'or fitted for: it is reported once and counted (warn), or refused, as ' +
      '--refuse-extrapolation does.',
    flagFor: { flag: '--refuse-extrapolation', value: 'refuse' },
  }),
  /** Fixed milliseconds added to each step of composed, calibrated and roofline. */
  stepOverheadMs: optionalDuration(MILLISECONDS, {
    help:
      'Engine overhead added to each step of composed, calibrated and roofline (scheduling, ' +
      'sampling, launch).',
    unit: 'ms',
    unset: "the model's documented residual",
  }),
  mixedDecodeFactor: optionalNumber([1, 100], {
    help:
      'Factor on decode attention in steps that also prefill; 1 is an assumption, measured ' +
      'cards lie between 1.75 and 3.2.',
    unset: "the profile's own, else 1",
  }),
  stepTimeFile: optionalText({
    help:
      'File of the step-time model: a profile that `baton calibrate` wrote, a CSV grid, ' +
      'polynomial coefficients of xPyD-sim, or coefficients of BLIS.',
    unset: 'what is built in; table: required',
  }),
  operators: optionalText({
    help:
      'Folder of measured operators of your own for composed steps, <system>/<operator>.csv ' +
      'as in data/operators: your points come before the shipped ones (docs/calibrate.md).',
    unset: 'only the shipped tables',
  }),
  /** For replay and plan only: a live API is itself the server in front of its engines. */
  frontend: optionalText({
    help:
      'Server in front of the engines, in replay and plan: the time of a request outside of the ' +
      'engine. vllm is 5.7 ms and 6.3 us a prompt token, once more at a hand-over; none is no ' +
      'time; else a YAML file or {fields}: request_ms, prompt_token_us, request_busy_ms, ' +
      'prompt_token_busy_us, dispatch (docs/front-end.md). A live cluster does not use it.',
    unset:
      'what step_time_file was fitted with, else vllm; none when a recording of ' +
      "simulated engines is replayed, and with constant and per-token, a client's times",
  }),
  apiServerCount: integer(1, [1, 1_024], {
    help:
      'Server processes of each engine, in replay and plan. Each serves one request at a time, ' +
      'for the busy part of its pass. A live cluster does not use it.',
  }),
  timeToFirstToken: duration(0, MILLISECONDS, {
    help: 'With step_time constant: time of a step with a prompt of any length.',
    unit: 'ms',
  }),
  timeToFirstTokenStdDev: duration(0, MILLISECONDS, {
    help: 'Standard deviation of time_to_first_token; samples stay within 70 % of the mean.',
    unit: 'ms',
  }),
  interTokenLatency: duration(0, MILLISECONDS, {
    help: 'With step_time constant or per-token: time between two tokens of a sequence.',
    unit: 'ms',
  }),
  interTokenLatencyStdDev: duration(0, MILLISECONDS, {
    help: 'Standard deviation of inter_token_latency.',
    unit: 'ms',
  }),
  prefillOverhead: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: fixed part of the time of a prompt.',
    unit: 'ms',
  }),
  prefillTimePerToken: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: time per prompt token that is not in the prefix cache.',
    unit: 'ms',
  }),
  prefillTimeStdDev: duration(0, MILLISECONDS, {
    help: 'With step_time per-token: standard deviation of the time of a prompt.',
    unit: 'ms',
  }),
  timeFactorUnderLoad: number(1, [1, 1_000], {
    help:
      'With step_time constant or per-token: factor on all times when max_num_seqs sequences ' +
      'run; the factor is 1 for a single sequence, and linear between.',
  }),
  /** Replaces base latency plus bytes over bandwidth. */
  kvCacheTransferLatency: optionalDuration(MILLISECONDS, {
    help: 'Time of a KV transfer of any size.',
    unit: 'ms',
    unset: 'computed from link, missing bytes and active transfers',
  }),
  kvCacheTransferTimePerToken: optionalDuration(MILLISECONDS, {
    help: 'Time of a KV transfer per transferred token.',
    unit: 'ms',
    unset: 'computed from link, missing bytes and active transfers',
  }),
  kvHandshakeTime: duration(0, MILLISECONDS, {
    help:
      'Time of the first contact between an engine and one that it fetches KV from; reads wait ' +
      'for its end. 0.2 s to 2 s were measured with NIXL (docs/kv-transfer-links.md); the ' +
      'values differ too much for a default.',
    unit: 'ms',
  }),
  kvDescriptorTime: number(0, [0, 1_000_000], {
    help:
      'Time to post one descriptor of a KV transfer: a rank has one per block and layer, for K ' +
      'and for V. About 2.4 was measured where none could be merged ' +
      "(docs/kv-transfer-links.md). The default is 0, because the link's latency includes the " +
      'posting of typical transfers.',
    unit: 'µs',
  }),
} as const;
