import { EventQueue, type Micros } from '@baton/kernel';

/** What a request asks of the servers. */
export interface ServerDemand {
  /** How long it occupies one of them. */
  readonly busyUs: Micros;
  /** Number of servers, at least 1. It may change from request to request. */
  readonly servers: number;
}

/**
 * One queue, first come first served, in front of several equal servers. Fewer servers than before
 * finish what they have begun.
 */
export class ServerQueue {
  /** When each server that is occupied becomes free. */
  private readonly busyUntil = new EventQueue();

  /** @returns when the request that comes now is begun; `nowUs` where a server is free */
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
