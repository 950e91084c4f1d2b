// SGLang's cache-aware router. Source: sgl-project/sglang,
// sgl-model-gateway/src/policies/cache_aware.rs (select_worker) and the defaults of
// sglang_router/router_args.py: cache_threshold 0.3, balance_abs_threshold 64,
// balance_rel_threshold 1.5.
//
// Load is the number of requests on an engine. Where max - min > abs and max > rel · min, the
// engine with the least load is chosen. Else the one with the longest prefix, if that is more than
// cache_threshold of the prompt, and the one with the least load if it is not. Ties are drawn.
// SGLang matches characters in a tree of its own; here the prefixes are those of Baton's router.

export const CACHE_THRESHOLD = 0.3;
export const BALANCE_ABS_THRESHOLD = 64;
export const BALANCE_REL_THRESHOLD = 1.5;

export function isImbalanced(loads) {
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  return most - least > BALANCE_ABS_THRESHOLD && most > least * BALANCE_REL_THRESHOLD;
}

export default {
  create({ random }) {
    const oneOf = (indices) =>
      indices.length === 1 ? indices[0] : indices[random.integer(indices.length)];
    const leastLoaded = (loads) => {
      const least = Math.min(...loads);
      return oneOf(loads.flatMap((load, i) => (load === least ? [i] : [])));
    };
    return {
      choose({ request, engines, cachedTokens }) {
        const loads = engines.map(({ requests }) => requests);
        if (isImbalanced(loads)) return leastLoaded(loads);
        const matches = engines.map((engine) => cachedTokens(engine) / request.promptTokens);
        const longest = Math.max(...matches);
        return longest > CACHE_THRESHOLD ? matches.indexOf(longest) : leastLoaded(loads);
      },
    };
  },
};
