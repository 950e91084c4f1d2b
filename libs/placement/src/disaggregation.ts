/**
 * Conditional disaggregation: whether the rest of a prompt, after the part that the decode engine
 * probably holds, is so short that the decode engine computes it itself, because that costs its
 * batch less than a hand-over costs the request (Dynamo's `max-local-prefill-length`, BLIS's
 * `prefix-threshold` decider).
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
