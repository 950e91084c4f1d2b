/** The supported formats of measurements. */
export const FORMATS = [
  'csv',
  'xpyd',
  'vllm-bench',
  'guidellm',
  'aiperf',
  'inferencex',
  'baton-log',
] as const;

/** Formats measured by clients: their time to first token includes the server's front end. */
export const CLIENT_FORMATS: readonly string[] = [
  ...(['vllm-bench', 'guidellm', 'aiperf', 'inferencex'] satisfies InputFormat[]),
];

export type InputFormat = (typeof FORMATS)[number];
