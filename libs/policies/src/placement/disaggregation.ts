/**
 * Conditional disaggregation: whether the decode engine computes a prompt itself. It does so when
 * little is left after the part that it probably holds, because that costs its batch less than a
 * hand-over costs the request. Dynamo has `max-local-prefill-length` for this, BLIS its
 * `prefix-threshold` decider.
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
