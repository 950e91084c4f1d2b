import type { Service } from './policy';

/**
 * Cost of a prompt token and of an output token: those of the Virtual Token Counter (Sheng et al.,
 * "Fairness in Serving Large Language Models", OSDI 2024, section 5.1).
 */
const PROMPT_COST = 1;
const OUTPUT_COST = 2;

/** Most flows that are remembered while they have no waiting requests. */
const MOST_IDLE = 1_024;

/** A flow with waiting requests. */
export interface WaitingFlow {
  readonly key: string;
  readonly weight: number;
}

interface Tag {
  /** Service per weight so far: the start tag of the next request. */
  start: number;
  /** Number of the newest look at which the flow waited. */
  seenAt: number;
}

/**
 * Fair queueing by start tags (Goyal, Vin and Cheng, SIGCOMM 1996): the flow with the least service
 * per weight goes next. Between two flows that always wait, the service per weight differs by at
 * most one request of each (Theorem 1). A flow that is new or returns after a pause begins at the
 * virtual time, or at its own last tag if that is later, so it saves up no service. The output of a
 * request is not known when it begins and counts when it ends.
 *
 * The virtual time is that of generalized processor sharing (Parekh and Gallager, 1993): it
 * advances by each service over the weights of the flows that wait, and stays among their tags.
 * Were it the start tag of the last request served, every new name would begin there and go first,
 * and an endless series of new names would stop it and starve the others.
 */
export class FairShare {
  private virtualTime = 0;
  private readonly tags = new Map<string, Tag>();
  private looks = 0;
  /** Service by which the virtual time has not advanced; it advances in whole tokens. */
  private cost = 0;
  /** Size of `tags` at which idle flows are dropped. */
  private mostTags = MOST_IDLE;

  /** Flows that are remembered. */
  get size(): number {
    return this.tags.size;
  }

  /** Notes the flows that wait, before one of them is picked. A key may come more than once. */
  look(flows: readonly WaitingFlow[]): void {
    this.looks += 1;
    let weights = 0;
    let least = Infinity;
    let most = 0;
    for (const { key, weight } of flows) {
      const tag = this.tagOf(key, this.looks - 1);
      if (tag.seenAt < this.looks) weights += weight;
      tag.seenAt = this.looks;
      least = Math.min(least, tag.start);
      most = Math.max(most, tag.start);
    }
    const whole = Math.floor(this.cost / weights);
    this.cost -= whole * weights;
    this.virtualTime = Math.min(most, Math.max(least, this.virtualTime + whole));
  }

  /** Service per weight so far of a flow of the newest look. */
  startOf(key: string): number {
    return this.tags.get(key)?.start ?? this.virtualTime;
  }

  served(key: string, { promptTokens, outputTokens }: Service, weight = 1): void {
    const cost = PROMPT_COST * promptTokens + OUTPUT_COST * outputTokens;
    this.tagOf(key, this.looks).start += cost / weight;
    this.cost += cost;
    if (this.tags.size > this.mostTags) this.dropIdle();
  }

  /** A flow that did not wait at that look has no tag before the virtual time. */
  private tagOf(key: string, look: number): Tag {
    let tag = this.tags.get(key);
    if (tag === undefined) {
      tag = { start: 0, seenAt: 0 };
      this.tags.set(key, tag);
    }
    if (tag.seenAt < look || tag.seenAt === 0) tag.start = Math.max(tag.start, this.virtualTime);
    return tag;
  }

  /**
   * Drops every idle flow whose tag is not after the virtual time: a new tag would start there too.
   * Of the other idle flows it keeps the `MOST_IDLE / 2` with the largest lead. The next call comes
   * after `MOST_IDLE / 2` new flows, so the cost per flow is O(log flows).
   */
  private dropIdle(): void {
    const idle = [...this.tags].filter(([, { seenAt }]) => seenAt < this.looks);
    const ahead = idle.filter(([, { start }]) => start > this.virtualTime);
    ahead.sort(([, a], [, b]) => b.start - a.start);
    for (const [key] of idle) this.tags.delete(key);
    for (const [key, tag] of ahead.slice(0, MOST_IDLE / 2)) this.tags.set(key, tag);
    this.mostTags = this.tags.size + MOST_IDLE / 2;
  }
}
