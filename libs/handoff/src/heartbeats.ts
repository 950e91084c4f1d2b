import type { Micros } from '@baton/kernel';
import { DeadlineList, newDeadline } from './deadline-list';
import type { Deadline } from './deadline-list';
import type { Fetch } from './fetch';

/** The fetches from one source. */
interface Round {
  readonly sourceId: string;
  readonly members: Set<Fetch>;
}

/**
 * When a target tells each source whose KV it is still coming for. All fetches from one source share one message every L/6. A fetch that
 * was just accepted is announced at once, unless by the end of that instant its read is on its way, which says the same.
 */
export class Heartbeats {
  private readonly rounds = new Map<string, Deadline<Round>>();
  private readonly dues = new DeadlineList<Round>();
  private readonly unannounced = new Set<Fetch>();
  private unannouncedSinceUs: Micros = 0;

  constructor(private readonly everyUs: Micros) {}

  join(fetch: Fetch, nowUs: Micros): void {
    this.roundOf(fetch.source.engineId, nowUs).members.add(fetch);
    if (this.unannounced.size === 0) this.unannouncedSinceUs = nowUs;
    this.unannounced.add(fetch);
  }

  /** The source hears of this fetch by other means. */
  announced(fetch: Fetch): void {
    this.unannounced.delete(fetch);
  }

  leave(fetch: Fetch): void {
    this.unannounced.delete(fetch);
    const due = this.rounds.get(fetch.source.engineId);
    if (due === undefined || !due.owner.members.delete(fetch)) return;
    if (due.owner.members.size === 0) this.dues.remove(due);
  }

  /** Nothing is fetched from this source any more, and perhaps never again. */
  forget(sourceId: string): void {
    const due = this.rounds.get(sourceId);
    if (due?.owner.members.size === 0) this.rounds.delete(sourceId);
  }

  /** All fetches from this source, at this moment. */
  from(sourceId: string): Fetch[] {
    return [...(this.rounds.get(sourceId)?.owner.members ?? [])];
  }

  nextUs(): Micros | undefined {
    if (this.unannounced.size > 0) return this.unannouncedSinceUs;
    return this.dues.earliest()?.dueUs;
  }

  /** Calls `send` once per source that is due now, with the request ids as the source knows them. */
  beat(nowUs: Micros, send: (sourceId: string, requestIds: string[]) => void): void {
    for (
      let due = this.dues.earliest();
      due !== undefined && due.dueUs <= nowUs;
      due = this.dues.earliest()
    ) {
      const { sourceId, members } = due.owner;
      for (const fetch of members) this.unannounced.delete(fetch);
      send(sourceId, idsOf(members));
      this.dues.set(due, nowUs + this.everyUs);
    }
    for (const [sourceId, fetches] of bySource(this.unannounced)) send(sourceId, idsOf(fetches));
    this.unannounced.clear();
  }

  /** The round of a source, due a full pause after its first member came. Rounds without members stay, one per source. */
  private roundOf(sourceId: string, nowUs: Micros): Round {
    const due = this.rounds.get(sourceId) ?? newDeadline<Round>({ sourceId, members: new Set() });
    if (due.owner.members.size === 0) {
      this.rounds.set(sourceId, due);
      this.dues.set(due, nowUs + this.everyUs);
    }
    return due.owner;
  }
}

function idsOf(fetches: Iterable<Fetch>): string[] {
  return Array.from(fetches, (fetch) => fetch.source.requestId);
}

function bySource(fetches: Iterable<Fetch>): Map<string, Fetch[]> {
  const groups = new Map<string, Fetch[]>();
  for (const fetch of fetches) {
    const group = groups.get(fetch.source.engineId);
    if (group === undefined) groups.set(fetch.source.engineId, [fetch]);
    else group.push(fetch);
  }
  return groups;
}
