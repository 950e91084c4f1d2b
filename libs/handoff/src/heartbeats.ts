import {
  Chain,
  clearDeadline,
  type Deadline,
  DeadlineList,
  type Micros,
  newDeadline,
  NOT_YET,
} from '@baton/kernel';
import type { Fetch } from './fetch';
import type { AnyId } from './request-table';

/** The fetches from one source, in the order in which they began. */
interface Round<Id extends AnyId> {
  readonly sourceId: Id;
  readonly members: Chain<Fetch<Id>>;
}

/**
 * Schedules a target's messages to each source about the KV that it still fetches. All fetches from
 * one source share one message every L/6. A newly accepted fetch is announced at the same instant,
 * unless its read, which has the same information, is sent at that instant.
 */
export class Heartbeats<Id extends AnyId> {
  /** By source; a cluster has too many pairs of engines for an entry per pair. */
  private readonly rounds = new Map<Id, Deadline<Round<Id>>>();
  private readonly dues = new DeadlineList<Round<Id>>();
  /**
   * Fetches that joined since the last announcement. Some of them can have been announced or can
   * have left since.
   */
  private readonly joined: Fetch<Id>[] = [];
  private joinedCount = 0;
  private unannouncedCount = 0;
  private unannouncedSinceUs: Micros = NOT_YET;

  constructor(private readonly everyUs: Micros) {}

  join(fetch: Fetch<Id>, nowUs: Micros): void {
    this.openRound(fetch.source.engineId, nowUs).members.append(fetch);
    if (this.unannouncedCount === 0) {
      this.unannouncedSinceUs = nowUs;
      this.joinedCount = 0;
    }
    fetch.isUnannounced = true;
    this.unannouncedCount += 1;
    this.joined[this.joinedCount++] = fetch;
  }

  /**
   * Records that another message tells the source about this fetch, so that no heartbeat is due.
   */
  announced(fetch: Fetch<Id>): void {
    if (!fetch.isUnannounced) return;
    fetch.isUnannounced = false;
    this.unannouncedCount -= 1;
  }

  leave(fetch: Fetch<Id>): void {
    this.announced(fetch);
    const members = fetch.chain;
    if (members === undefined) return;
    members.remove(fetch);
    if (members.first !== undefined) return;
    const { engineId } = fetch.source;
    const due = this.rounds.get(engineId)!;
    clearDeadline(due);
    this.rounds.delete(engineId);
  }

  /** The first fetch from this source; the others follow it as its `next`. */
  firstFrom(sourceId: Id): Fetch<Id> | undefined {
    return this.rounds.get(sourceId)?.owner.members.first;
  }

  nextUs(): Micros | undefined {
    if (this.unannouncedCount > 0) return this.unannouncedSinceUs;
    return this.dues.earliest()?.dueUs;
  }

  /** Calls `send` once per source that is due, with the source's own request ids. */
  sendDue(nowUs: Micros, send: (sourceId: Id, requestIds: Id[]) => void): void {
    for (
      let due = this.dues.earliest();
      due !== undefined && due.dueUs <= nowUs;
      due = this.dues.earliest()
    ) {
      const requestIds: Id[] = [];
      for (let fetch = due.owner.members.first; fetch !== undefined; fetch = fetch.next) {
        this.announced(fetch);
        requestIds.push(fetch.source.requestId);
      }
      send(due.owner.sourceId, requestIds);
      this.dues.set(due, nowUs + this.everyUs);
    }
    if (this.unannouncedCount === 1) this.announceOne(send);
    else if (this.unannouncedCount > 1) {
      for (const [sourceId, requestIds] of this.unannounced()) send(sourceId, requestIds);
    }
  }

  /** The same as for several, without a map: nearly all fetches are accepted alone. */
  private announceOne(send: (sourceId: Id, requestIds: Id[]) => void): void {
    let at = this.joinedCount - 1;
    while (!this.joined[at]!.isUnannounced) at--;
    const fetch = this.joined[at]!;
    this.announced(fetch);
    send(fetch.source.engineId, [fetch.source.requestId]);
  }

  /** Announces all fetches that are not yet announced, by source. */
  private unannounced(): Map<Id, Id[]> {
    const groups = new Map<Id, Id[]>();
    for (let i = 0; i < this.joinedCount; i++) {
      const fetch = this.joined[i]!;
      if (!fetch.isUnannounced) continue;
      this.announced(fetch);
      const { engineId, requestId } = fetch.source;
      const group = groups.get(engineId);
      if (group === undefined) groups.set(engineId, [requestId]);
      else group.push(requestId);
    }
    return groups;
  }

  /** The round of a source, due a full interval after its first member came. */
  private openRound(sourceId: Id, nowUs: Micros): Round<Id> {
    const known = this.rounds.get(sourceId);
    if (known !== undefined) return known.owner;
    const due = newDeadline({ sourceId, members: new Chain<Fetch<Id>>() });
    this.rounds.set(sourceId, due);
    this.dues.set(due, nowUs + this.everyUs);
    return due.owner;
  }
}
