import type { Micros } from '@baton/kernel';

/** Nothing of this request is wanted any more, whatever its epoch. */
export const EVERY_EPOCH = Number.POSITIVE_INFINITY;

const MAX_PER_TURN = 65_536;

interface Tombstone {
  /** Runs up to this epoch are void. */
  overEpoch: number;
  /** Runs that have been here and ended: the one case in which a repeated beginning must stay without effect. */
  readonly buriedEpochs: number[];
}

/**
 * Remembers for a while which runs of a request are over, so that a repeated or late fact finds a closed door. Two maps take turns: an
 * entry lives one to two spans, or shorter when more than 65,536 come within one.
 */
export class Tombstones {
  private young = new Map<string, Tombstone>();
  private old = new Map<string, Tombstone>();
  private turnUs: Micros = 0;

  constructor(private readonly spanUs: Micros) {}

  /** The highest epoch that is void, or -1. */
  overEpoch(requestId: string): number {
    return this.find(requestId)?.overEpoch ?? -1;
  }

  /** Whether this very run began here and ended. */
  isBuried(requestId: string, epoch: number): boolean {
    return this.find(requestId)?.buriedEpochs.includes(epoch) ?? false;
  }

  /** Runs up to `epoch` are void. */
  raise(requestId: string, epoch: number, nowUs: Micros): void {
    const stone = this.renew(requestId, nowUs);
    stone.overEpoch = Math.max(stone.overEpoch, epoch);
  }

  /** This run ended here. */
  bury(requestId: string, epoch: number, nowUs: Micros): void {
    const stone = this.renew(requestId, nowUs);
    stone.overEpoch = Math.max(stone.overEpoch, epoch);
    stone.buriedEpochs.push(epoch);
  }

  private find(requestId: string): Tombstone | undefined {
    return this.young.get(requestId) ?? this.old.get(requestId);
  }

  private renew(requestId: string, nowUs: Micros): Tombstone {
    if (nowUs >= this.turnUs + this.spanUs || this.young.size >= MAX_PER_TURN) {
      this.old = this.young;
      this.young = new Map();
      this.turnUs = nowUs;
    }
    const stone = this.find(requestId) ?? { overEpoch: -1, buriedEpochs: [] };
    this.young.set(requestId, stone);
    return stone;
  }
}
