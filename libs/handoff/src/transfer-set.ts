import { assert } from '@baton/kernel';
import type { Micros } from '@baton/kernel';
import { IdMap } from './id-map';
import type { AnyId } from './id-map';
import { isBefore, LinkEnd, US_PER_SECOND } from './link-end';
import type { Transfer } from './link-end';
import { transferRate } from './transfer-rate';

export interface TransferStart<Id extends AnyId = string> {
  readonly id: Id;
  readonly sourceId: Id;
  readonly targetId: Id;
  readonly bytes: number;
  /** Time before the first byte flows. The transfer counts at both ends from its start on, as the source counts a read from its answer on. */
  readonly baseLatencyUs: Micros;
  /** Capacity of the links; the newest value told for an end holds for all its transfers. */
  readonly sourceBytesPerSecond: number;
  readonly targetBytesPerSecond: number;
  /** What the source's answer said about how many reads share its link; left out when this set holds all of them. */
  readonly sourceActiveReads?: number;
  readonly nowUs: Micros;
}

export interface CompletedTransfer<Id extends AnyId = string> {
  readonly id: Id;
  readonly completedUs: Micros;
}

/** Floating point may put an exact division a hair above the whole microsecond. */
const ROUNDING_SLACK_US = 1e-6;

/**
 * Owns the progress of transfers over shared links. With all transfers of a cluster in it (the virtual driver) both counts are its own; with
 * one target's transfers (a live engine) the source's count is told by `setSourceShare`. Progress is settled only when a rate changes, and
 * completions are whole microseconds, so how often one asks changes nothing.
 */
export class TransferSet<Id extends AnyId = string> {
  private readonly transfers = new IdMap<Id, Transfer<Id>>();
  private readonly sources = new Map<Id, LinkEnd<Id>>();
  private readonly targets = new Map<Id, LinkEnd<Id>>();
  private done: CompletedTransfer<Id>[] = [];
  private started = 0;
  private earliest: Transfer<Id> | undefined;
  private isEarliestKnown = true;
  private nowUs: Micros = 0;

  get size(): number {
    return this.transfers.size;
  }

  /** Starts a transfer. An id may be used again only after its transfer has completed or was cancelled. */
  start(start: TransferStart<Id>): void {
    assert(start.bytes >= 0 && start.baseLatencyUs >= 0, 'a transfer has a size and a latency');
    assert(start.sourceBytesPerSecond > 0 && start.targetBytesPerSecond > 0, 'links have capacity');
    this.advance(start.nowUs);
    assert(!this.transfers.has(start.id), 'an id names one transfer under way');
    const source = endOf(this.sources, start.sourceId);
    const target = endOf(this.targets, start.targetId);
    source.bytesPerSecond = start.sourceBytesPerSecond;
    target.bytesPerSecond = start.targetBytesPerSecond;
    if (start.sourceActiveReads !== undefined) source.announced = start.sourceActiveReads;
    const transfer: Transfer<Id> = {
      id: start.id,
      number: this.started++,
      source,
      target,
      flowsFromUs: this.nowUs + start.baseLatencyUs,
      bytesLeft: start.bytes,
      sinceUs: this.nowUs,
      bytesPerUs: 0,
      completesUs: Infinity,
    };
    this.transfers.set(transfer.id, transfer);
    source.add(transfer);
    target.add(transfer);
    this.divide(source, target);
  }

  /** Ends a transfer without completing it; false when it is not under way (any more). */
  cancel(id: Id, nowUs: Micros): boolean {
    this.advance(nowUs);
    const transfer = this.transfers.get(id);
    if (transfer !== undefined) this.remove(transfer);
    return transfer !== undefined;
  }

  /**
   * The source says how many reads share its link. A count below the transfers that this set has from there is stale and has no effect.
   * The count falls by itself when one of them completes; the source's next word settles it.
   */
  setSourceShare(sourceId: Id, activeReads: number, nowUs: Micros): void {
    this.advance(nowUs);
    const source = this.sources.get(sourceId);
    if (source === undefined || source.transfers.length === 0) return;
    if (source.announced === activeReads) return;
    source.announced = activeReads;
    source.divide();
    this.retime(source);
  }

  /** Moves the clock on and completes what is due, each at its own instant. An instant before an earlier one counts as that one. */
  advance(nowUs: Micros): void {
    for (let next = this.next(); next && next.completesUs <= nowUs; next = this.next()) {
      this.nowUs = Math.max(this.nowUs, next.completesUs);
      this.done.push({ id: next.id, completedUs: next.completesUs });
      this.remove(next);
    }
    this.nowUs = Math.max(this.nowUs, nowUs);
  }

  /** When the next transfer completes if no count changes before; undefined when none is under way. */
  nextCompletionUs(): Micros | undefined {
    return this.next()?.completesUs;
  }

  /** What has completed up to `nowUs` and was not returned before, in the order of completion, then of start. */
  completed(nowUs: Micros): readonly CompletedTransfer<Id>[] {
    this.advance(nowUs);
    const done = this.done;
    this.done = [];
    return done;
  }

  /** The present rate in bytes per second, 0 when not under way; the base latency does not show in it. */
  rateOf(id: Id): number {
    return (this.transfers.get(id)?.bytesPerUs ?? 0) * US_PER_SECOND;
  }

  private remove(transfer: Transfer<Id>): void {
    const { source, target } = transfer;
    this.transfers.delete(transfer.id);
    source.remove(transfer);
    target.remove(transfer);
    this.isEarliestKnown = false;
    this.divide(source, target);
  }

  /** A count or capacity changed at both ends. */
  private divide(source: LinkEnd<Id>, target: LinkEnd<Id>): void {
    source.divide();
    target.divide();
    this.retime(target);
    this.retime(source);
  }

  private retime(end: LinkEnd<Id>): void {
    for (const transfer of end.transfers) this.retimeOne(transfer);
  }

  /** What has flowed is settled at the old rate, the rest is timed at the new one. */
  private retimeOne(transfer: Transfer<Id>): void {
    const { source, target } = transfer;
    const bytesPerUs = transferRate(source.shareBytesPerUs, target.shareBytesPerUs);
    if (bytesPerUs === transfer.bytesPerUs) return;
    const flowedUs = this.nowUs - Math.max(transfer.sinceUs, transfer.flowsFromUs);
    if (flowedUs > 0) {
      transfer.bytesLeft = Math.max(0, transfer.bytesLeft - flowedUs * transfer.bytesPerUs);
    }
    transfer.sinceUs = this.nowUs;
    transfer.bytesPerUs = bytesPerUs;
    const spanUs = Math.ceil(transfer.bytesLeft / bytesPerUs - ROUNDING_SLACK_US);
    const beforeUs = transfer.completesUs;
    transfer.completesUs = Math.max(this.nowUs, transfer.flowsFromUs) + Math.max(0, spanUs);
    target.moved(transfer, beforeUs);
    this.isEarliestKnown = false;
  }

  private next(): Transfer<Id> | undefined {
    if (this.isEarliestKnown) return this.earliest;
    let earliest: Transfer<Id> | undefined;
    for (const target of this.targets.values()) {
      const first = target.earliest();
      if (first === undefined) continue;
      if (earliest === undefined || isBefore(first, earliest)) earliest = first;
    }
    this.earliest = earliest;
    this.isEarliestKnown = true;
    return earliest;
  }
}

function endOf<Id>(ends: Map<Id, LinkEnd<Id>>, id: Id): LinkEnd<Id> {
  let end = ends.get(id);
  if (end === undefined) {
    end = new LinkEnd();
    ends.set(id, end);
  }
  return end;
}
