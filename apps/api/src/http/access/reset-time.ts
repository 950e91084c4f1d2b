const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * A duration in the form of OpenAI's `x-ratelimit-reset-*` headers: `17ms`, `8.64s`, `6m0s`,
 * `1h0m2s`.
 */
export function resetTime(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  if (whole < SECOND_MS) return `${whole}ms`;
  const hours = Math.floor(whole / HOUR_MS);
  const minutes = Math.floor((whole % HOUR_MS) / MINUTE_MS);
  const seconds = `${(whole % MINUTE_MS) / SECOND_MS}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
