/** What `baton policy new --kind flow-control` writes; NAME stands for the name of the policy. */
export const FLOW_EXAMPLE = `// A flow control policy for Baton.
// It decides which request goes on next, where more come than the engines should have at once.
//
//   baton policy test ./NAME.mjs --kind flow-control --trace mooncake-conversation --topology 4P4D
//   baton up 2P2D --flow-control ./NAME.mjs
//
// Baton calls create once per API process, and pick whenever a request may go on and some wait. A
// policy must be pure: the same calls and the same random numbers give the same choices. So it
// reads no clock, no file and no network, and draws only from the given random stream. Where pick
// throws, returns no index or takes more than 50 ms, the oldest request goes on.

/**
 * @typedef {object} SloClass
 * @property {string} name
 * @property {number} priority lower goes first
 * @property {number} weight share of the service, above 0
 * @property {number | undefined} ttftUs TTFT to be kept, simulated µs; undefined: none is promised
 * @property {number | undefined} tpotUs the same for the time per output token
 *
 * @typedef {object} Flow requests of one class and tenant that wait; at least one does
 * @property {SloClass} sloClass
 * @property {string} tenant
 * @property {number} waitingRequests
 * @property {{ promptTokens: number, arrivalUs: number, order: number }} oldest
 *   the request that goes on when this flow is picked; order rises with each request that waits
 *
 * @typedef {object} Context
 * @property {Flow[]} flows
 * @property {number} nowUs simulated µs
 * @property {number} underWay requests that the engines have
 *
 * @typedef {object} Random
 * @property {() => number} unit a number from 0 to 1, without 1
 * @property {(n: number) => number} integer an integer from 0 to n - 1
 */

// This example lets the request go on that has the least time left to its TTFT target. A request
// without a target counts as one that may wait for this long.
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
       * Optional: what a flow has had, of a prompt when it goes on, of output when it has ended.
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

test('lets the request go on whose deadline comes first', () => {
  assert.equal(pick(flow(0, 9_000), flow(5_000, 1_000)), 1);
});

test('does not leave a request without a target behind', () => {
  assert.equal(pick(flow(40_000_000, 1_000_000), flow(0)), 1);
});
`;
