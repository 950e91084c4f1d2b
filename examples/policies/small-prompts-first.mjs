// A flow control policy: the class with the lowest priority number first, in it the flow whose
// oldest request has the shortest prompt, but a request that has waited for 5 s before all others.
//
//   baton replay --trace mooncake-conversation \
//     --flow-control ./examples/policies/small-prompts-first.mjs

const PATIENCE_US = 5_000_000;

export default {
  create() {
    const keyOf = ({ sloClass, oldest }, nowUs) => {
      const isLate = nowUs - oldest.arrivalUs > PATIENCE_US;
      return isLate ? [-Infinity, oldest.arrivalUs] : [sloClass.priority, oldest.promptTokens];
    };
    return {
      pick({ flows, nowUs }) {
        const keys = flows.map((flow) => keyOf(flow, nowUs));
        const isBefore = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
        return keys.reduce((best, key, i) => (isBefore(key, keys[best]) ? i : best), 0);
      },
    };
  },
};
