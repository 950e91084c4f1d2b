import { assert, type Micros, NOT_YET, Tournament } from '@baton/kernel';
import { LinkEnd, NO_TRANSFER, US_PER_SECOND } from './link-end';
import { Outbox } from './outbox';
import { TransferColumns } from './transfer-columns';
import { transferRate } from './transfer-rate';
import { type AnyId, newRequestTable, type RequestTable } from './request-table';

export interface TransferStart<Id extends AnyId = string> {
  readonly id: Id;
  readonly sourceId: Id;
  readonly targetId: Id;
  readonly bytes: number;
  /**
   * Time before the first byte flows. The transfer counts at both ends from its start, just as the
   * source counts a read from its answer on.
   */
  readonly baseLatencyUs: Micros;
  /** Capacity of one port; the newest value for an end applies to all its transfers. */
  readonly sourceBytesPerSecond: number;
  readonly targetBytesPerSecond: number;
  /** Number of the source's ports that send to one port of the target (`sourcePortsOf`), > 0. */
  readonly sourcePorts: number;
  /**
   * The number of reads on the source's link, from its answer; unset when this set has all of them.
   */
  readonly sourceActiveReads?: number;
  readonly nowUs: Micros;
}

export interface CompletedTransfer<Id extends AnyId = string> {
  readonly id: Id;
  readonly completedUs: Micros;
}

/**
 * Tolerance for floating point, which can put an exact division slightly above the whole
 * microsecond.
 */
const ROUNDING_SLACK_US = 1e-6;

/**
 * Owns the progress of transfers over shared links. With all transfers of a cluster in it (the
 * virtual driver) both counts are its own; with one target's transfers (a live engine)
 * `setSourceShare` sets the source's count. Progress is settled only when a rate changes, and
 * completions are whole microseconds, so the number of calls changes nothing.
 */
export class TransferSet<Id extends AnyId = string> {
  private readonly slots: RequestTable<Id, number>;
  private readonly columns = new TransferColumns<Id>();
  private readonly sources = new Map<Id, LinkEnd>();
  private readonly targets = new Map<Id, LinkEnd>();
  private readonly targetEnds: LinkEnd[] = [];
  /** The targets ordered by their first transfers, so that many engines cost little. */
  private readonly firsts = new Tournament();
  /** Targets whose first transfer can be out of date. */
  private readonly stale: LinkEnd[] = [];
  private staleCount = 0;
  private readonly done = new Outbox<CompletedTransfer<Id>>();
  private nowUs: Micros = NOT_YET;

  /** @param rows  when ids are rows below this number; unset for names */
  constructor(rows?: number) {
    this.slots = newRequestTable(rows);
  }

  get size(): number {
    return this.slots.size;
  }

  /**
   * Starts a transfer. An id may be used again only after its transfer has completed or was
   * cancelled.
   */
  start(start: TransferStart<Id>): void {
    assert(start.bytes >= 0 && start.baseLatencyUs >= 0, 'a transfer has a size and a latency');
    assert(start.sourceBytesPerSecond > 0 && start.targetBytesPerSecond > 0, 'links have capacity');
    assert(start.sourcePorts > 0, 'a port of the source sends');
    this.advance(start.nowUs);
    assert(this.slots.get(start.id) === undefined, 'an id names one transfer under way');
    const source = endOf(this.sources, start.sourceId);
    const target = this.targetEnd(start.targetId);
    source.bytesPerSecond = start.sourceBytesPerSecond;
    target.bytesPerSecond = start.targetBytesPerSecond;
    if (start.sourceActiveReads !== undefined) source.announced = start.sourceActiveReads;
    const slot = this.columns.add(start.id, source, target);
    this.columns.bytesLeft[slot] = start.bytes;
    this.columns.sourcePorts[slot] = start.sourcePorts;
    this.columns.sinceUs[slot] = this.nowUs + start.baseLatencyUs;
    this.slots.set(start.id, slot);
    source.slots.push(slot);
    target.slots.push(slot);
    this.divide(source, target);
  }

  /** Ends a transfer without completing it; false when it is not or no longer under way. */
  cancel(id: Id, nowUs: Micros): boolean {
    this.advance(nowUs);
    const slot = this.slots.get(id);
    if (slot !== undefined) this.remove(slot);
    return slot !== undefined;
  }

  /**
   * Sets the number of reads that share the source's link. A count below the number of this set's
   * transfers from there is stale and has no effect. The set lowers the count when one of them
   * completes; the source's next count corrects it.
   */
  setSourceShare(sourceId: Id, activeReads: number, nowUs: Micros): void {
    this.advance(nowUs);
    const source = this.sources.get(sourceId);
    if (source === undefined || source.slots.length === 0) return;
    if (source.announced === activeReads) return;
    source.announced = activeReads;
    this.divideSource(source);
  }

  /**
   * Advances the clock and completes due transfers, each at its own instant. An instant before an
   * earlier one counts as that one.
   */
  advance(nowUs: Micros): void {
    const { ids, completesUs } = this.columns;
    for (let next = this.next(); next !== NO_TRANSFER; next = this.next()) {
      const completedUs = completesUs[next]!;
      if (completedUs > nowUs) break;
      this.nowUs = Math.max(this.nowUs, completedUs);
      this.done.push({ id: ids[next]!, completedUs });
      this.remove(next);
    }
    this.nowUs = Math.max(this.nowUs, nowUs);
  }

  /**
   * When the next transfer completes unless a count changes before; undefined when none is under
   * way.
   */
  nextCompletionUs(): Micros | undefined {
    const next = this.next();
    return next === NO_TRANSFER ? undefined : this.columns.completesUs[next];
  }

  /**
   * Transfers completed up to `nowUs` and not returned before, in the order of completion, then of
   * start.
   */
  completed(nowUs: Micros): readonly CompletedTransfer<Id>[] {
    this.advance(nowUs);
    return this.done.take();
  }

  /** The current rate in bytes per second, 0 when not under way; it ignores the base latency. */
  rateOf(id: Id): number {
    const slot = this.slots.get(id);
    return slot === undefined ? 0 : this.columns.bytesPerUs[slot]! * US_PER_SECOND;
  }

  private remove(slot: number): void {
    const { columns } = this;
    const source = columns.sources[slot]!;
    const target = columns.targets[slot]!;
    this.slots.delete(columns.ids[slot]!);
    columns.remove(slot);
    source.remove(slot);
    target.remove(slot);
    this.divide(source, target);
  }

  /** A count or capacity changed at both ends. */
  private divide(source: LinkEnd, target: LinkEnd): void {
    target.divide();
    this.divideSource(source);
    for (const slot of target.slots) this.retime(slot);
    this.findFirst(target);
  }

  /** Transfers that were and still are limited by their target keep their rate. */
  private divideSource(source: LinkEnd): void {
    const { targets, bytesPerUs, sourcePorts } = this.columns;
    const before = source.shareBytesPerUs;
    source.divide();
    const after = source.shareBytesPerUs;
    for (const slot of source.slots) {
      const rate = bytesPerUs[slot]!;
      const ports = sourcePorts[slot]!;
      if (rate < before * ports && rate <= after * ports) continue;
      if (this.retime(slot)) this.markStale(targets[slot]!);
    }
  }

  private markStale(target: LinkEnd): void {
    if (target.isStale) return;
    target.isStale = true;
    this.stale[this.staleCount++] = target;
  }

  private findFirst(target: LinkEnd): void {
    const { columns } = this;
    let first = NO_TRANSFER;
    for (const slot of target.slots) {
      first = first === NO_TRANSFER ? slot : columns.earlier(slot, first);
    }
    target.first = first;
    if (first === NO_TRANSFER) this.firsts.set(target.place, Infinity);
    else this.firsts.set(target.place, columns.completesUs[first]!, columns.numbers[first]);
  }

  /**
   * If its rate has changed, settles the bytes sent at the old rate and times the rest at the new
   * one.
   */
  private retime(slot: number): boolean {
    const { bytesLeft, sinceUs, bytesPerUs, completesUs } = this.columns;
    const rate = this.rateAt(slot);
    const oldRate = bytesPerUs[slot]!;
    if (rate === oldRate) return false;
    const flowedUs = this.nowUs - sinceUs[slot]!;
    if (flowedUs > 0) {
      bytesLeft[slot] = Math.max(0, bytesLeft[slot]! - flowedUs * oldRate);
      sinceUs[slot] = this.nowUs;
    }
    bytesPerUs[slot] = rate;
    const spanUs = Math.ceil(bytesLeft[slot]! / rate - ROUNDING_SLACK_US);
    completesUs[slot] = sinceUs[slot]! + Math.max(0, spanUs);
    return true;
  }

  /** The rate that its ends allow now, in bytes of one target rank per µs. */
  private rateAt(slot: number): number {
    const { sources, targets, sourcePorts } = this.columns;
    const sourceShare = sources[slot]!.shareBytesPerUs * sourcePorts[slot]!;
    return transferRate(sourceShare, targets[slot]!.shareBytesPerUs);
  }

  /** The slot that completes first; on a tie, the one that started first. */
  private next(): number {
    while (this.staleCount > 0) {
      const target = this.stale[--this.staleCount]!;
      target.isStale = false;
      this.findFirst(target);
    }
    return this.slots.size === 0 ? NO_TRANSFER : this.targetEnds[this.firsts.first]!.first;
  }

  private targetEnd(id: Id): LinkEnd {
    const known = this.targets.get(id);
    if (known !== undefined) return known;
    const end = endOf(this.targets, id);
    this.targetEnds.push(end);
    return end;
  }
}

function endOf<Id>(ends: Map<Id, LinkEnd>, id: Id): LinkEnd {
  let end = ends.get(id);
  if (end === undefined) {
    end = new LinkEnd(ends.size);
    ends.set(id, end);
  }
  return end;
}
