/**
 * The file of `baton policy new --kind flow-control`; NAME is replaced by the name of the policy.
 */
export const FLOW_EXAMPLE = `// A flow control policy for Baton.
// This policy chooses the next request when more requests arrive than the engines may run.
//
//   baton policy test ./NAME.mjs --kind flow-control --trace mooncake-conversation --topology 4P4D
//   baton up 2P2D --flow-control ./NAME.mjs
//
// Baton calls create once per API process, and pick whenever a waiting request may go on. A policy
// must be pure: equal calls and equal random numbers give equal choices. So it must not read
// clocks, files or the network, and must draw only from the given random stream. If pick throws,
// returns an invalid index or takes more than 50 ms, the oldest request goes on.

/**
 * @typedef {object} SloClass
 * @property {string} name
 * @property {number} priority lower numbers go first
 * @property {number} weight share of the service, above 0
 * @property {number | undefined} ttftUs TTFT target, simulated µs; undefined: none
 * @property {number | undefined} tpotUs the same for the time per output token
 *
 * @typedef {object} Flow the waiting requests of one class and tenant, at least one
 * @property {SloClass} sloClass
 * @property {string} tenant
 * @property {number} waitingRequests
 * @property {{ promptTokens: number, arrivalUs: number, order: number }} oldest
 *   the request that goes on when this flow is picked; order grows with each waiting request
 *
 * @typedef {object} Context
 * @property {Flow[]} flows
 * @property {number} nowUs simulated µs
 * @property {number} underWay requests in the engines
 *
 * @typedef {object} Random
 * @property {() => number} unit a number in [0, 1)
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example picks the request with the least time left to its TTFT target. A request without a
// target counts as one with this target.
const PATIENCE_US = 30_000_000;

export default {
  /** @param {{ random: Random }} parts */
  create() {
    return {
      /**
       * @param {Context} context
       * @returns {number} index into flows
       */
      pick({ flows }) {
        const deadlines = flows.map(
          ({ sloClass, oldest }) => oldest.arrivalUs + (sloClass.ttftUs ?? PATIENCE_US),
        );
        return deadlines.indexOf(Math.min(...deadlines));
      },

      /**
       * Optional: service to a flow. Called when a request goes on (prompt) and ends (output).
       *
       * @param {{ sloClass: SloClass, tenant: string }} flow
       * @param {{ promptTokens: number, outputTokens: number }} service
       */
      served(flow, service) {},
    };
  },
};
`;

export const FLOW_TEST = `// Run with: node --test NAME.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import policy from './NAME.mjs';

function pick(...flows) {
  const random = { unit: () => 0, integer: () => 0 };
  return policy.create({ random }).pick({ flows, nowUs: 0, underWay: 1 });
}

function flow(arrivalUs, ttftUs) {
  const oldest = { promptTokens: 10, arrivalUs, order: 0 };
  const sloClass = { name: 'a', priority: 0, weight: 1, ttftUs };
  return { sloClass, tenant: 'default', waitingRequests: 1, oldest };
}

test('picks the request with the first deadline', () => {
  assert.equal(pick(flow(0, 9_000), flow(5_000, 1_000)), 1);
});

test('also picks a request without a target', () => {
  assert.equal(pick(flow(40_000_000, 1_000_000), flow(0)), 1);
});
`;
