/** The file of `baton policy new`; NAME is replaced by the name of the policy. */
export const EXAMPLE_POLICY = `// A placement policy for Baton.
// This policy chooses an engine for each request.
//
//   baton policy test ./NAME.mjs --trace mooncake-conversation --topology 4P4D
//   baton up 2P2D --placement ./NAME.mjs
//
// Baton calls create once per stage and router, and choose once per request. A policy must be pure:
// equal calls and equal random numbers give equal choices. So it must not read clocks, files or
// the network, and must draw only from the given random stream. It does not get the length of an
// answer. If choose throws, returns an invalid index or takes more than 50 ms, the policy in
// placement_fallback chooses instead.

/**
 * One engine: its last report, plus the requests that this router has sent to it since. Baton
 * reuses these objects, so keep copies, not references.
 *
 * @typedef {object} EngineView
 * @property {string} engineId stable name; use it as a key
 * @property {number} requests running, waiting and deferred requests
 * @property {number} waitingRequests the part of them that does not run
 * @property {number} waitingTokens prompt tokens still to be computed
 * @property {number} kvTokens tokens of KV cache in use
 * @property {number} kvUsage share of the KV cache in use, 0 to 1
 * @property {{ running: string[], waiting: string[], most: number }} [adapters]
 *   LoRA adapters of its sequences, and the most of one batch; only with LoRA
 *
 * @typedef {object} Request
 * @property {number} promptTokens
 * @property {number} sessionKey hash of session or user; 0: none
 * @property {string} [adapter] its LoRA adapter; unset: the base model
 * @property {ArrayLike<number>} blockHashes hashes of the prompt's full blocks
 * @property {number} blockFrom index of the first hash
 * @property {number} blockCount number of hashes
 *
 * @typedef {object} Context
 * @property {Request} request
 * @property {'prefill' | 'decode' | 'aggregated'} stage
 * @property {readonly EngineView[]} engines at least one, in a stable order
 * @property {(engine: EngineView) => number} cachedTokens
 *   prompt tokens that the engine probably has in its cache
 * @property {(engine: EngineView, tokens: number, cached: number) => number} prefillUs
 *   µs to compute this many tokens after the cached ones
 *
 * @typedef {object} Random
 * @property {() => number} unit a number in [0, 1)
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example adds two scores, like the scheduler of the Kubernetes inference gateway: the share
// of the prompt in the engine's cache, and the shortness of its queue relative to the longest one.
const PREFIX_WEIGHT = 2;
const QUEUE_WEIGHT = 1;

export default {
  /** @param {{ stage: string, random: Random }} parts */
  create({ random }) {
    return {
      /**
       * @param {Context} context
       * @returns {number} index of an engine
       */
      choose({ request, engines, cachedTokens }) {
        const longest = Math.max(1, ...engines.map((engine) => engine.requests));
        const scores = engines.map((engine) => {
          const prefix = cachedTokens(engine) / request.promptTokens;
          const queue = 1 - engine.requests / longest;
          return PREFIX_WEIGHT * prefix + QUEUE_WEIGHT * queue;
        });
        const best = Math.max(...scores);
        const tied = scores.flatMap((score, index) => (score === best ? [index] : []));
        return tied[random.integer(tied.length)];
      },
    };
  },
};
`;

export const EXAMPLE_TEST = `// Run with: node --test NAME.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import policy from './NAME.mjs';

const engine = (engineId, requests) => ({
  engineId,
  requests,
  waitingRequests: 0,
  waitingTokens: 0,
  kvTokens: 0,
  kvUsage: 0,
});

function choose(engines, cached = {}) {
  const random = { unit: () => 0, integer: () => 0 };
  const { choose } = policy.create({ stage: 'prefill', random });
  return choose({
    request: { promptTokens: 100, sessionKey: 0, blockHashes: [], blockFrom: 0, blockCount: 0 },
    stage: 'prefill',
    engines,
    cachedTokens: ({ engineId }) => cached[engineId] ?? 0,
    prefillUs: () => 1000,
  });
}

test('chooses the engine with the shorter queue', () => {
  assert.equal(choose([engine('a', 4), engine('b', 1)]), 1);
});

test('chooses the engine that has the prompt, even with a longer queue', () => {
  assert.equal(choose([engine('a', 4), engine('b', 1)], { a: 90 }), 0);
});
`;
