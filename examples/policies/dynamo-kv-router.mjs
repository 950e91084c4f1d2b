// NVIDIA Dynamo's KV router. Source: ai-dynamo/dynamo, lib/kv-router/src/scheduling/selector.rs
// (worker_logit and softmax_sample), with its defaults:
//
//   logit = overlap_score_weight · prefill blocks + decode blocks, the lowest wins
//
// prefill blocks: prompt tokens that the engine would then have to compute, including those of
// waiting requests, over the block size. decode blocks: KV blocks in use there, including the
// prompt's. With a temperature, softmax over (logit - lowest) / ((highest - lowest) · temperature),
// negated.

export const OVERLAP_SCORE_WEIGHT = 1;
export const TEMPERATURE = 0;
export const BLOCK_TOKENS = 16;

export function logitOf(engine, { request, cachedTokens }, weight = OVERLAP_SCORE_WEIGHT) {
  const missing = request.promptTokens - cachedTokens(engine);
  const prefillBlocks = (engine.waitingTokens + missing) / BLOCK_TOKENS;
  const decodeBlocks = Math.floor((engine.kvTokens + request.promptTokens) / BLOCK_TOKENS);
  return weight * prefillBlocks + decodeBlocks;
}

export function probabilities(logits, temperature) {
  const [least, most] = [Math.min(...logits), Math.max(...logits)];
  if (least === most) return logits.map(() => 1 / logits.length);
  const weights = logits.map((logit) => Math.exp((least - logit) / ((most - least) * temperature)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

export function sample(shares, unit) {
  let sum = 0;
  const found = shares.findIndex((share) => unit <= (sum += share));
  return found < 0 ? shares.length - 1 : found;
}

export default {
  create({ random }) {
    return {
      choose(context) {
        const logits = context.engines.map((engine) => logitOf(engine, context));
        if (TEMPERATURE > 0) return sample(probabilities(logits, TEMPERATURE), random.unit());
        const least = Math.min(...logits);
        const tied = logits.flatMap((logit, i) => (logit === least ? [i] : []));
        return tied.length === 1 ? tied[0] : tied[random.integer(tied.length)];
      },
    };
  },
};
