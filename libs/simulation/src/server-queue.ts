import { EventQueue, type Micros } from '@baton/kernel';

/** The demand of a request. */
export interface ServerDemand {
  /** Time for which the request occupies one of the servers. */
  readonly busyUs: Micros;
  /** Number of servers, at least 1. It may change from request to request. */
  readonly servers: number;
}

/**
 * One queue, first come first served, in front of several equal servers. When the number of servers
 * shrinks, requests under way still finish.
 */
export class ServerQueue {
  /** Time at which each occupied server becomes free. */
  private readonly busyUntil = new EventQueue();

  /** @returns when a request that comes now begins; `nowUs` if a server is free */
  begin(nowUs: Micros, { busyUs, servers }: ServerDemand): Micros {
    if (busyUs === 0) return nowUs;
    let startUs = nowUs;
    while (this.busyUntil.peekTimeUs() <= nowUs || this.busyUntil.size >= servers) {
      startUs = Math.max(startUs, this.busyUntil.peekTimeUs());
      this.busyUntil.pop();
    }
    this.busyUntil.push(startUs + busyUs, 0, 0);
    return startUs;
  }
}
