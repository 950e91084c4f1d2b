import type { EventEmitter } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * npm passes Ctrl-C on to a process that has it from the terminal already; signals this close
 * together are one request.
 */
const SAME_REQUEST_MS = 500;

/**
 * Turns signals into two facts: the first requests an orderly stop, the second an immediate one.
 */
export class StopRequests {
  private readonly orderly = new AbortController();
  private readonly atOnce = new AbortController();
  private firstMs = 0;

  /** `nowMs` is a clock that only runs forward. */
  constructor(
    private readonly source: EventEmitter = process,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    for (const signal of SIGNALS) source.on(signal, this.onSignal);
  }

  /** Aborts with the first request. */
  get first(): AbortSignal {
    return this.orderly.signal;
  }

  /** Aborts with the second. */
  get second(): AbortSignal {
    return this.atOnce.signal;
  }

  close(): void {
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
