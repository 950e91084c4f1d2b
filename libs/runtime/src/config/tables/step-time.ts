import { choice, number, optionalNumber, optionalText } from '../option';

const MILLISECONDS = [0, 3_600_000] as const;

/** How long a step takes. The latency options are named like those of llm-d-inference-sim. */
export const STEP_TIME = {
  stepTime: choice(
    ['auto', 'calibrated', 'roofline', 'constant', 'per-token', 'table', 'polynomial'],
    'auto',
    {
      help: 'Step-time model: auto takes calibrated where the shipped table has model, GPU and tensor_parallel_size, else roofline. constant and per-token use the options below, table a CSV grid, polynomial fitted coefficients.',
    },
  ),
  /** Fixed milliseconds added to each step of calibrated and roofline. */
  stepOverheadMs: optionalNumber(MILLISECONDS, {
    help: 'Engine overhead added to each step of calibrated and roofline (scheduling, sampling, launch).',
    unit: 'ms',
    unset: "the model's documented residual",
  }),
  mixedDecodeFactor: number(1, [1, 100], {
    help: 'Factor on decode attention in steps that also prefill; 1 is an assumption, measured cards lie between 1.75 and 3.2.',
  }),
  stepTimeFile: optionalText({
    help: 'File of step_time table (CSV grid) or polynomial (YAML coefficients).',
    unset: 'polynomial: the built-in fit; table: required',
  }),
  timeToFirstToken: number(0, MILLISECONDS, {
    help: 'constant: time of a prompt, whatever its length.',
    unit: 'ms',
  }),
  timeToFirstTokenStdDev: number(0, MILLISECONDS, {
    help: 'Standard deviation of time_to_first_token; samples stay within 70 % of the mean.',
    unit: 'ms',
  }),
  interTokenLatency: number(0, MILLISECONDS, {
    help: 'constant and per-token: time between two tokens of a sequence.',
    unit: 'ms',
  }),
  interTokenLatencyStdDev: number(0, MILLISECONDS, {
    help: 'Standard deviation of inter_token_latency.',
    unit: 'ms',
  }),
  prefillOverhead: number(0, MILLISECONDS, {
    help: 'per-token: fixed part of the time of a prompt.',
    unit: 'ms',
  }),
  prefillTimePerToken: number(0, MILLISECONDS, {
    help: 'per-token: time per prompt token that the cache does not hold.',
    unit: 'ms',
  }),
  prefillTimeStdDev: number(0, MILLISECONDS, {
    help: 'Standard deviation of the time of a prompt under per-token.',
    unit: 'ms',
  }),
  timeFactorUnderLoad: number(1, [1, 1_000], {
    help: 'constant and per-token: factor on all times when max_num_seqs sequences run; 1 with a single one, linear between.',
  }),
  /** Replaces base latency plus bytes over bandwidth. */
  kvCacheTransferLatency: optionalNumber(MILLISECONDS, {
    help: 'Time of a KV transfer, whatever its size.',
    unit: 'ms',
    unset: 'computed from link, missing bytes and active transfers',
  }),
  kvCacheTransferTimePerToken: optionalNumber(MILLISECONDS, {
    help: 'Time of a KV transfer per transferred token.',
    unit: 'ms',
    unset: 'computed from link, missing bytes and active transfers',
  }),
} as const;
