/** Files of measurements that are understood. */
export const FORMATS = [
  'csv',
  'xpyd',
  'vllm-bench',
  'guidellm',
  'aiperf',
  'inferencex',
  'baton-log',
] as const;

export type InputFormat = (typeof FORMATS)[number];
