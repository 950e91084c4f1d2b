// AIBrix's prefix-cache router. Source: vllm-project/aibrix,
// pkg/plugins/gateway/algorithms/README.md (prefix cache aware), with its defaults:
// POD_RUNNING_REQUEST_IMBALANCE_ABS_COUNT 16, STANDARD_DEVIATION_FACTOR 2.
//
// Where max - min requests > 16, the engine with the fewest requests is chosen. Else, of those
// that have a prefix, the one with the longest (of equals the one with fewer requests) whose
// requests are at most mean + 2 standard deviations. Without one: the fewest requests.

export const IMBALANCE_ABS_COUNT = 16;
export const STANDARD_DEVIATION_FACTOR = 2;

export function mostRequests(loads, factor = STANDARD_DEVIATION_FACTOR) {
  const mean = loads.reduce((a, b) => a + b, 0) / loads.length;
  const variance = loads.reduce((sum, load) => sum + (load - mean) ** 2, 0) / loads.length;
  return mean + factor * Math.sqrt(variance);
}

export default {
  create({ random }) {
    const fewest = (loads) => {
      const least = Math.min(...loads);
      const tied = loads.flatMap((load, i) => (load === least ? [i] : []));
      return tied.length === 1 ? tied[0] : tied[random.integer(tied.length)];
    };
    return {
      choose({ engines, cachedTokens }) {
        const loads = engines.map(({ requests }) => requests);
        if (Math.max(...loads) - Math.min(...loads) > IMBALANCE_ABS_COUNT) return fewest(loads);
        const most = mostRequests(loads);
        const matching = engines
          .map((engine, i) => ({ i, tokens: cachedTokens(engine) }))
          .filter(({ tokens }) => tokens > 0)
          .sort((a, b) => b.tokens - a.tokens || loads[a.i] - loads[b.i]);
        return matching.find(({ i }) => loads[i] <= most)?.i ?? fewest(loads);
      },
    };
  },
};
