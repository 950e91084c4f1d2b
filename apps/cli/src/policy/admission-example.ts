/** The file of `baton policy new --kind admission`; NAME is replaced by the name of the policy. */
export const ADMISSION_EXAMPLE = `// An admission policy for Baton.
// This policy admits or refuses each request.
//
//   baton policy test ./NAME.mjs --kind admission --trace mooncake-conversation --topology 2P2D
//   baton up 2P2D --admission ./NAME.mjs
//
// Baton calls create once per stage and router, and admit once per request. A policy must be pure:
// equal calls and equal random numbers give equal answers. So it must not read clocks, files or
// the network, and must draw only from the given random stream. It does not get the length of an
// answer. If admit throws, returns no boolean or takes more than 50 ms, --admission-slo-ttft
// decides; without it, the request is admitted.

/**
 * @typedef {object} EngineView
 * @property {string} engineId stable name; use it as a key
 * @property {number} requests running, waiting and deferred requests
 * @property {number} waitingRequests the part of them that does not run
 * @property {number} waitingTokens prompt tokens still to be computed
 * @property {number} kvTokens tokens of KV cache in use
 * @property {number} kvUsage share of the KV cache in use, 0 to 1
 *
 * @typedef {object} Context
 * @property {{ promptTokens: number, sessionKey: number, adapter?: string }} request
 * @property {'prefill' | 'aggregated'} stage the stage that computes the prompt
 * @property {readonly EngineView[]} engines of that stage
 * @property {number} waitingRequests requests that wait for the stage
 * @property {() => number} predictedTtftUs the predicted time to the first token from now on, µs
 * @property {number} [waitedUs] µs that the request has waited for flow control
 * @property {number} [ttftTargetUs] the TTFT target of its SLO class, µs
 * @property {(engine: EngineView) => number} cachedTokens
 *   prompt tokens that the engine probably has in its cache
 * @property {(engine: EngineView, tokens: number, cached: number) => number} prefillUs
 *   µs to compute this many tokens after the cached ones
 *
 * @typedef {object} Random
 * @property {() => number} unit a number in [0, 1)
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example refuses a request that would wait too long, unless the queue is short.
const FREE_REQUESTS = 4;
const MOST_TTFT_US = 2_000_000;

export default {
  /** @param {{ stage: string, random: Random }} parts */
  create() {
    return {
      /**
       * @param {Context} context
       * @returns {boolean} true: admitted
       */
      admit({ waitingRequests, predictedTtftUs }) {
        return waitingRequests < FREE_REQUESTS || predictedTtftUs() <= MOST_TTFT_US;
      },

      /**
       * Optional: the wait for Retry-After in simulated µs.
       *
       * @param {Context} context
       */
      retryAfterUs({ predictedTtftUs }) {
        return Math.max(0, predictedTtftUs() - MOST_TTFT_US);
      },
    };
  },
};
`;

export const ADMISSION_TEST = `// Run with: node --test NAME.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import policy from './NAME.mjs';

function admit(waitingRequests, ttftUs) {
  const random = { unit: () => 0, integer: () => 0 };
  const { admit } = policy.create({ stage: 'prefill', random });
  return admit({ waitingRequests, predictedTtftUs: () => ttftUs });
}

test('admits a request while the queue is short', () => {
  assert.equal(admit(0, 9_000_000), true);
});

test('refuses a request that would wait too long', () => {
  assert.equal(admit(4, 1_000_000), true);
  assert.equal(admit(4, 9_000_000), false);
});
`;
