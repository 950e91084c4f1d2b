// The load of each scenario, with the simulated times of every system.
const STREAMS = { ttftMs: 20, itlMs: 20, sequences: 1_100 };
const NO_TIME = { ttftMs: 0, itlMs: 0, sequences: 1_100 };

/**
 * By name: the times, and the flags of the load generator. A scenario without flags sends nothing.
 */
export const SCENARIOS = {
  'streams-200': {
    ...STREAMS,
    flags: ['--clients=200', '--max-tokens=200', '--ramp=4', '--warm=3', '--window=12'],
  },
  'streams-1000': {
    ...STREAMS,
    flags: ['--clients=1000', '--max-tokens=200', '--ramp=4', '--warm=3', '--window=12'],
  },
  // Connections that come slowly enough for every server to accept them.
  'streams-1000-steady': {
    ...STREAMS,
    flags: ['--clients=1000', '--max-tokens=200', '--ramp=16', '--warm=8', '--window=12'],
  },
  'one-token': {
    ...NO_TIME,
    flags: ['--stream=false', '--clients=64', '--max-tokens=1', '--ramp=1', '--warm=4'],
  },
  idle: { ...STREAMS, flags: undefined },
};
