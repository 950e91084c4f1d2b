export interface BackoffOptions {
  /** Pause after the first short life. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** A life this long counts as steady, and the next pause is the first again. */
  readonly steadyMs: number;
  /** Number of short runs in a row after which no restart follows. */
  readonly limit: number;
}

const DEFAULTS: BackoffOptions = { firstMs: 100, longestMs: 5_000, steadyMs: 5_000, limit: 10 };

/**
 * The pause before a restart of a process: doubling up to a limit, for a limited number of times.
 */
export class Backoff {
  private shortLives = 0;

  constructor(private readonly options: BackoffOptions = DEFAULTS) {}

  /** Milliseconds until the next start, or undefined when there is none. */
  next(livedMs: number): number | undefined {
    const { firstMs, longestMs, steadyMs, limit } = this.options;
    this.shortLives = livedMs >= steadyMs ? 1 : this.shortLives + 1;
    if (this.shortLives > limit) return undefined;
    return Math.min(longestMs, firstMs * 2 ** (this.shortLives - 1));
  }
}
