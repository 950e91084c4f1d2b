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

/** What clients have seen: a time to first token has the server's front end in it. */
export const CLIENT_FORMATS: readonly string[] = [
  ...(['vllm-bench', 'guidellm', 'aiperf', 'inferencex'] satisfies InputFormat[]),
];

export type InputFormat = (typeof FORMATS)[number];
