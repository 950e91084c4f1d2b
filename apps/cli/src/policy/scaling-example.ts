/** The file of `baton policy new --kind scaling`; NAME is replaced by the name of the policy. */
export const SCALING_EXAMPLE = `// An autoscaler for Baton.
// This policy sets the number of engines of each role.
//
//   baton policy test ./NAME.mjs --kind scaling --trace mooncake-conversation --max 8P16D
//   baton plan --autoscalers ./NAME.mjs,hpa:ttft --trace mooncake-conversation --max 8P16D
//   baton up 1P1D --scale-policy ./NAME.mjs --max 4P4D
//
// Baton calls create once, and decide at every scale_interval. A policy must be pure: equal calls
// and equal random numbers give equal decisions. So it must not read clocks, files or the network,
// and must draw only from the given random stream. If decide throws, returns invalid counts or
// takes more than 50 ms, the built-in autoscaler in --autoscaler decides; without one, the engines
// stay. Baton always keeps the bounds and at least one engine of each role.

/**
 * @typedef {'prefill' | 'decode' | 'aggregated'} Role
 * @typedef {Record<Role, number>} Counts
 * @typedef {'ttft' | 'itl' | 'e2el' | 'waiting' | 'rps' | 'running' | 'kv'} Metric
 *
 * @typedef {object} Context
 * @property {number} nowUs simulated µs since the start
 * @property {object} sample the last scrape: engines, queues and counters of requests
 * @property {object | undefined} previous the scrape before it
 * @property {Counts} counts engines, including those that start and without those that drain
 * @property {{ min: Counts, max: Counts }} bounds
 * @property {(metric: Metric, role: Role) => number | undefined} value
 *   a metric as for hpa:, latencies in seconds; undefined: not measured
 * @property {object} capacities by role: the capacity of an engine from its step times
 *
 * @typedef {object} Random
 * @property {() => number} unit a number in [0, 1)
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example has one prefill engine for every two waiting requests, and adds or removes one
// decode engine by the use of the KV caches.
const WAITING_PER_PREFILL = 2;
const KV_HIGH = 0.7;
const KV_LOW = 0.3;

export default {
  /** @param {{ random: Random }} parts */
  create() {
    return {
      /**
       * @param {Context} context
       * @returns {{ counts: Counts }} the wanted engines by role
       */
      decide({ counts, value }) {
        const waiting = value('waiting', 'prefill') ?? 0;
        const kv = value('kv', 'decode') ?? 0;
        const step = kv > KV_HIGH ? 1 : kv < KV_LOW ? -1 : 0;
        return {
          counts: {
            ...counts,
            prefill: Math.ceil(waiting / WAITING_PER_PREFILL),
            decode: counts.decode + step,
          },
        };
      },
    };
  },
};
`;

export const SCALING_TEST = `// Run with: node --test NAME.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import policy from './NAME.mjs';

function decide(values) {
  const random = { unit: () => 0, integer: () => 0 };
  return policy.create({ stage: 'cluster', random }).decide({
    counts: { prefill: 1, decode: 2, aggregated: 0 },
    value: (metric) => values[metric],
  }).counts;
}

test('has prefill engines for the waiting requests', () => {
  assert.equal(decide({ waiting: 7, kv: 0.5 }).prefill, 4);
});

test('adds a decode engine when the caches are full', () => {
  assert.equal(decide({ waiting: 0, kv: 0.8 }).decode, 3);
});

test('removes one when they are empty', () => {
  assert.equal(decide({ waiting: 0, kv: 0.1 }).decode, 1);
});
`;
