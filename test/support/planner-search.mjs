// A search of 12 trials, short enough for a test: its space, and the options of `baton plan`.
export const SEARCH_SPACE = `
gpus: { h100: 6, a100: 4 }
tensor_parallel_size: [1, 2]
loads: [1]
vary: { autoscaler: [none, 'hpa:running=20:interval=1s'] }
trials: 12
`;
export const SEARCH_OPTIONS = [
  ...['--slo', 'ttft=1s,tpot=30ms'],
  ...['--dataset', 'random', '--num-prompts', '400', '--request-rate', '12'],
  ...['--random-input-len', '2000', '--random-output-len', '100'],
];
