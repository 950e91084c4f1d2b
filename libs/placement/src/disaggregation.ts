/**
 * Conditional disaggregation: whether a prompt is so short behind what the decode engine is
 * believed to hold that the engine computes it itself, which costs its batch less than a hand-over
 * costs the request (Dynamo's `max-local-prefill-length`, BLIS's `prefix-threshold` decider).
 *
 * @param thresholdTokens prompt tokens to compute at most; 0 = every prompt goes to prefill
 */
export function isPrefilledOnDecode(
  promptTokens: number,
  cachedTokens: number,
  thresholdTokens: number,
): boolean {
  return thresholdTokens > 0 && promptTokens - cachedTokens <= thresholdTokens;
}
