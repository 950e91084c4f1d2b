import type { Service } from './policy';

/**
 * Cost of a prompt token and of an output token: those of the Virtual Token Counter (Sheng et al.,
 * "Fairness in Serving Large Language Models", OSDI 2024, section 5.1).
 */
const PROMPT_COST = 1;
const OUTPUT_COST = 2;

/** Limit of counters; beyond it, counters without information are dropped. */
const MOST_COUNTERS = 1_024;

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): the flow with the least service
 * per weight goes next. A flow that returns after a pause begins at the virtual time, the start tag
 * of the last one served, so that it saves up no service. Between two flows that always wait, the
 * service per weight differs by at most one request of each (Theorem 1). The output of a request is
 * not known when it begins and counts when it ends.
 */
export class FairShare {
  private virtualTime = 0;
  private readonly counters = new Map<string, number>();

  /** Service per weight so far, never behind the virtual time. */
  startOf(key: string): number {
    return Math.max(this.counters.get(key) ?? 0, this.virtualTime);
  }

  /** The flow is served next; its start becomes the virtual time. */
  began(key: string): void {
    this.virtualTime = this.startOf(key);
  }

  served(key: string, { promptTokens, outputTokens }: Service, weight = 1): void {
    const cost = PROMPT_COST * promptTokens + OUTPUT_COST * outputTokens;
    this.counters.set(key, this.startOf(key) + cost / weight);
    if (this.counters.size > MOST_COUNTERS) this.dropIdle();
  }

  /** A counter below the virtual time is equivalent to it. */
  private dropIdle(): void {
    for (const [key, counter] of this.counters) {
      if (counter <= this.virtualTime) this.counters.delete(key);
    }
  }
}
