// A scheduling policy: earliest deadline first. A request's deadline is its arrival plus 200 ms for
// each level of its priority: 0 is the most urgent.
//
//   baton replay --trace mooncake-conversation --scheduling-policy ./examples/policies/edf.mjs

const SLACK_US = 200_000;

export default {
  create() {
    return {
      key: ({ arrivalUs, priority }) => arrivalUs + SLACK_US * (1 + Math.max(0, priority)),
    };
  },
};
