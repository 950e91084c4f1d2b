import type { Micros } from '@baton/kernel';
import type { AnyId } from './request-table';

/** True when the request has ended, in every epoch. */
export const EVERY_EPOCH = Number.POSITIVE_INFINITY;

const MAX_PER_TURN = 65_536;

interface Stone {
  /** Runs up to this epoch are void. */
  readonly overEpoch: number;
  /**
   * Runs that began and ended in this engine: only for these must a repeated beginning have no
   * effect.
   */
  readonly buriedEpochs: readonly number[];
}

/**
 * Nearly always exactly one run began and ended in this engine and was the newest; then only its
 * epoch is stored, without an object.
 */
export type Tombstone = number | Stone;

/**
 * Records for a time which runs of a request have ended, so that a repeated or late fact has no
 * effect. Two maps alternate: an entry is kept for one to two spans, or less when more than 65,536
 * entries come within one.
 */
export class Tombstones<Id extends AnyId> {
  private young = new Map<Id, Tombstone>();
  private old = new Map<Id, Tombstone>();
  private turnUs: Micros = 0;

  constructor(private readonly spanUs: Micros) {}

  find(requestId: Id): Tombstone | undefined {
    return this.young.get(requestId) ?? this.old.get(requestId);
  }

  /** Runs up to `epoch` are void. */
  raise(requestId: Id, epoch: number, nowUs: Micros): void {
    const { overEpoch, buriedEpochs } = stoneOf(this.find(requestId));
    this.put(requestId, { overEpoch: Math.max(overEpoch, epoch), buriedEpochs }, nowUs);
  }

  /** Records that this run ended in this engine. */
  bury(requestId: Id, epoch: number, nowUs: Micros): void {
    const tombstone = this.find(requestId);
    if (tombstone === undefined) {
      this.put(requestId, epoch, nowUs);
      return;
    }
    const stone = stoneOf(tombstone);
    const overEpoch = Math.max(stone.overEpoch, epoch);
    const buriedEpochs = [...stone.buriedEpochs, epoch];
    this.put(requestId, { overEpoch, buriedEpochs }, nowUs);
  }

  private put(requestId: Id, tombstone: Tombstone, nowUs: Micros): void {
    if (nowUs >= this.turnUs + this.spanUs || this.young.size >= MAX_PER_TURN) {
      [this.young, this.old] = [this.old, this.young];
      this.young.clear();
      this.turnUs = nowUs;
    }
    this.young.set(requestId, tombstone);
  }
}

/** The highest epoch that is void, or -1. */
export function overEpochOf(tombstone: Tombstone | undefined): number {
  if (tombstone === undefined) return -1;
  return typeof tombstone === 'number' ? tombstone : tombstone.overEpoch;
}

/** Whether exactly this run began and ended in this engine. */
export function isBuried(tombstone: Tombstone | undefined, epoch: number): boolean {
  if (tombstone === undefined) return false;
  return typeof tombstone === 'number'
    ? tombstone === epoch
    : tombstone.buriedEpochs.includes(epoch);
}

function stoneOf(tombstone: Tombstone | undefined): Stone {
  if (tombstone === undefined) return { overEpoch: -1, buriedEpochs: [] };
  if (typeof tombstone !== 'number') return tombstone;
  return { overEpoch: tombstone, buriedEpochs: [tombstone] };
}
