/** What `baton policy new --kind scaling` writes; NAME stands for the name of the policy. */
export const SCALING_EXAMPLE = `// An autoscaler for Baton.
// It decides how many engines of each role there are.
//
//   baton plan --autoscalers ./NAME.mjs,hpa:ttft --trace mooncake-conversation --max 8P16D
//   baton up 1P1D --scale-policy ./NAME.mjs --max 4P4D
//
// Baton calls create once, and decide at every scale_interval. A policy must be pure: the same
// calls and the same random numbers give the same decisions. So it reads no clock, no file and no
// network, and draws only from the given random stream. Where decide throws, returns no counts or
// takes more than 50 ms, the built-in autoscaler that --autoscaler names decides, or without one
// the engines stay. Baton keeps the bounds and one engine of each role, whatever is decided.

/**
 * @typedef {'prefill' | 'decode' | 'aggregated'} Role
 * @typedef {Record<Role, number>} Counts
 * @typedef {'ttft' | 'itl' | 'e2el' | 'waiting' | 'rps' | 'running' | 'kv'} Metric
 *
 * @typedef {object} Context
 * @property {number} nowUs simulated µs since the start
 * @property {object} sample the last scrape: engines, queues and counters of requests
 * @property {object | undefined} previous the scrape before it
 * @property {Counts} counts engines, those that start included and those that drain not
 * @property {{ min: Counts, max: Counts }} bounds
 * @property {(metric: Metric, role: Role) => number | undefined} value
 *   a metric as hpa: reads it, latencies in seconds; undefined: nothing was measured
 * @property {object} capacities by role: what an engine can do by its step times alone
 *
 * @typedef {object} Random
 * @property {() => number} unit a number from 0 to 1, without 1
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example has one prefill engine for every two requests that wait, and adds or takes away one
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
       * @returns {{ counts: Counts }} engines that there should be
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

test('has prefill engines for the requests that wait', () => {
  assert.equal(decide({ waiting: 7, kv: 0.5 }).prefill, 4);
});

test('adds a decode engine when the caches fill', () => {
  assert.equal(decide({ waiting: 0, kv: 0.8 }).decode, 3);
});

test('takes one away when they are empty', () => {
  assert.equal(decide({ waiting: 0, kv: 0.1 }).decode, 1);
});
`;
