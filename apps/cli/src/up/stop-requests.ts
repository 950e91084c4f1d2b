import type { EventEmitter } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Signals within this time are one request: npm repeats Ctrl-C to a process that has received it
 * from the terminal.
 */
const SAME_REQUEST_MS = 500;

/**
 * Turns signals into two facts: the first requests an orderly stop, the second an immediate stop.
 */
export class StopRequests {
  private readonly orderly = new AbortController();
  private readonly atOnce = new AbortController();
  private firstMs = 0;

  /** @param nowMs a monotonic clock */
  constructor(
    private readonly source: EventEmitter = process,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    for (const signal of SIGNALS) source.on(signal, this.onSignal);
  }

  /** Aborts at the first request. */
  get first(): AbortSignal {
    return this.orderly.signal;
  }

  /** Aborts at the second request. */
  get second(): AbortSignal {
    return this.atOnce.signal;
  }

  stopListening(): void {
    for (const signal of SIGNALS) this.source.off(signal, this.onSignal);
  }

  private readonly onSignal = (): void => {
    const nowMs = this.nowMs();
    if (!this.orderly.signal.aborted) {
      this.firstMs = nowMs;
      this.orderly.abort();
    } else if (nowMs - this.firstMs >= SAME_REQUEST_MS) {
      this.atOnce.abort();
    }
  };
}
