// Mooncake's Conductor. Source: Qin et al., FAST'25, algorithm 1, for prompts:
//
//   TTFT = T_queue + T_prefill(length, own prefix), the lowest wins
//
// and an engine whose prefix is short beside the best one would fetch that prefix first. Baton
// moves no KV between prefill engines, so that branch is left out; a hot prefix is copied by
// computing it again. The built-in prefix-aware policy is the same, with turns between equal
// engines. The rejection of requests whose TTFT would miss the objective is --admission slo-ttft.
// T_queue counts full steps of 8,192 tokens. Decode engines are chosen by load.

const STEP_TOKENS = 8192;

export function ttftUs(engine, { request, cachedTokens, prefillUs }) {
  const cached = Math.min(cachedTokens(engine), request.promptTokens - 1);
  const step = Math.min(engine.waitingTokens, STEP_TOKENS);
  const queueUs = step > 0 ? (engine.waitingTokens / step) * prefillUs(engine, step, 0) : 0;
  return queueUs + prefillUs(engine, request.promptTokens - cached, cached);
}

export default {
  create({ stage }) {
    const costOf = (engine, context) =>
      stage === 'decode' ? engine.kvTokens : ttftUs(engine, context);
    return {
      choose(context) {
        const costs = context.engines.map((engine) => costOf(engine, context));
        return costs.indexOf(Math.min(...costs));
      },
    };
  },
};
