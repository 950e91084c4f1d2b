/** The file of `baton policy new --kind scheduling`; NAME is replaced by the name of the policy. */
export const SCHEDULING_EXAMPLE = `// A scheduling policy for Baton.
// This policy orders the waiting queue of every engine.
//
//   baton policy test ./NAME.mjs --kind scheduling --trace mooncake-conversation --topology 2P2D
//   baton up 2P2D --scheduling-policy ./NAME.mjs
//
// Baton calls create once per stage and process, and key once per sequence that enters a queue.
// The sequence with the lowest key runs first. A policy must be pure: equal calls and equal random
// numbers give equal keys. So it must not read clocks, files or the network, and must draw only
// from the given random stream. It does not get the length of an answer. If key throws, returns no
// finite number or takes more than 50 ms, the sequence is last, in order of submission.

/**
 * @typedef {object} Sequence
 * @property {number} promptTokens
 * @property {number} targetTokens tokens to compute: the prompt, after a preemption also the answer
 * @property {number} computed tokens of them that the KV cache holds
 * @property {number} priority the request's own, or that of its SLO class; 0: the most urgent
 * @property {number} arrivalUs simulated µs
 * @property {number} adapter number of its LoRA adapter; 0: the base model
 * @property {number} order grows with each sequence that enters the queue
 *
 * @typedef {object} Random
 * @property {() => number} unit a number in [0, 1)
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// In this example short prompts run first. A long prompt gets its turn in time, because each token
// counts like a delay of its arrival.
const US_PER_TOKEN = 100;

export default {
  /** @param {{ stage: string, random: Random }} parts */
  create() {
    return {
      /**
       * @param {Sequence} sequence
       * @returns {number} lower numbers run first
       */
      key({ targetTokens, computed, arrivalUs }) {
        return arrivalUs + US_PER_TOKEN * (targetTokens - computed);
      },

      /**
       * Optional: decides between equal keys.
       *
       * @param {Sequence} sequence
       */
      tieKey({ order }) {
        return order;
      },

      // Optional: true preempts the running sequence that this order puts last; false the newest.
      preemptsLast: false,
      // Optional: true gives a preempted sequence the lowest order.
      resumesFirst: true,
    };
  },
};
`;

export const SCHEDULING_TEST = `// Run with: node --test NAME.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import policy from './NAME.mjs';

function key(targetTokens, arrivalUs) {
  const random = { unit: () => 0, integer: () => 0 };
  const { key } = policy.create({ stage: 'prefill', random });
  return key({ promptTokens: targetTokens, targetTokens, computed: 0, priority: 0, arrivalUs });
}

test('runs a short prompt before a long one that came a little earlier', () => {
  assert.ok(key(100, 5_000) < key(1_000, 0));
});

test('runs a long prompt before a short one that came much later', () => {
  assert.ok(key(1_000, 0) < key(100, 5_000_000));
});
`;
