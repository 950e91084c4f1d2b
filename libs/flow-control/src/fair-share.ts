import type { Service } from './policy';

/**
 * Tokens that a token of the prompt and one of the output count as: those of the Virtual Token
 * Counter (Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024, section 5.1).
 */
const PROMPT_COST = 1;
const OUTPUT_COST = 2;

/** Counters kept; those that say nothing are dropped beyond it. */
const MOST_COUNTERS = 1_024;

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): who has had the least service per
 * weight goes next, and who comes back after a pause begins at the virtual time, the start tag of
 * the last one served, so that nothing is saved up. Between two that wait all the while the service
 * per weight differs by no more than one request of each (Theorem 1). The output of a request is
 * not known when it begins and counts when it ends.
 */
export class FairShare {
  private virtualTime = 0;
  private readonly counters = new Map<string, number>();

  /** Service per weight so far, never behind the virtual time. */
  startOf(key: string): number {
    return Math.max(this.counters.get(key) ?? 0, this.virtualTime);
  }

  /** It is served next: from now on this is the virtual time. */
  began(key: string): void {
    this.virtualTime = this.startOf(key);
  }

  served(key: string, { promptTokens, outputTokens }: Service, weight = 1): void {
    const cost = PROMPT_COST * promptTokens + OUTPUT_COST * outputTokens;
    this.counters.set(key, this.startOf(key) + cost / weight);
    if (this.counters.size > MOST_COUNTERS) this.dropIdle();
  }

  /** A counter behind the virtual time stands for it. */
  private dropIdle(): void {
    for (const [key, counter] of this.counters) {
      if (counter <= this.virtualTime) this.counters.delete(key);
    }
  }
}
