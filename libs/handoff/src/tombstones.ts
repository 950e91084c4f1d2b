import type { Micros } from '@baton/kernel';

/** Nothing of this request is wanted any more, whatever its epoch. */
export const EVERY_EPOCH = Number.POSITIVE_INFINITY;

const MAX_PER_TURN = 65_536;

interface Tombstone {
  /** Runs up to this epoch are void. */
  readonly overEpoch: number;
  /** Runs that have been here and ended: the one case in which a repeated beginning must stay without effect. */
  readonly buriedEpochs: readonly number[];
}

/** Nearly always one run began here, ended here and was the newest: then its epoch says it all, and costs no object. */
type Entry = number | Tombstone;

/**
 * Remembers for a while which runs of a request are over, so that a repeated or late fact finds a closed door. Two maps take turns: an
 * entry lives one to two spans, or shorter when more than 65,536 come within one.
 */
export class Tombstones {
  private young = new Map<string, Entry>();
  private old = new Map<string, Entry>();
  private turnUs: Micros = 0;

  constructor(private readonly spanUs: Micros) {}

  /** The highest epoch that is void, or -1. */
  overEpoch(requestId: string): number {
    const entry = this.find(requestId) ?? -1;
    return typeof entry === 'number' ? entry : entry.overEpoch;
  }

  /** Whether this very run began here and ended. */
  isBuried(requestId: string, epoch: number): boolean {
    const entry = this.find(requestId) ?? -1;
    return typeof entry === 'number' ? entry === epoch : entry.buriedEpochs.includes(epoch);
  }

  /** Runs up to `epoch` are void. */
  raise(requestId: string, epoch: number, nowUs: Micros): void {
    const { overEpoch, buriedEpochs } = this.tombstone(requestId);
    this.put(requestId, { overEpoch: Math.max(overEpoch, epoch), buriedEpochs }, nowUs);
  }

  /** This run ended here. */
  bury(requestId: string, epoch: number, nowUs: Micros): void {
    if (this.find(requestId) === undefined) {
      this.put(requestId, epoch, nowUs);
      return;
    }
    const stone = this.tombstone(requestId);
    const overEpoch = Math.max(stone.overEpoch, epoch);
    const buriedEpochs = [...stone.buriedEpochs, epoch];
    this.put(requestId, { overEpoch, buriedEpochs }, nowUs);
  }

  private find(requestId: string): Entry | undefined {
    return this.young.get(requestId) ?? this.old.get(requestId);
  }

  private tombstone(requestId: string): Tombstone {
    const entry = this.find(requestId);
    if (entry === undefined) return { overEpoch: -1, buriedEpochs: [] };
    return typeof entry === 'number' ? { overEpoch: entry, buriedEpochs: [entry] } : entry;
  }

  private put(requestId: string, entry: Entry, nowUs: Micros): void {
    if (nowUs >= this.turnUs + this.spanUs || this.young.size >= MAX_PER_TURN) {
      this.old = this.young;
      this.young = new Map();
      this.turnUs = nowUs;
    }
    this.young.set(requestId, entry);
  }
}
