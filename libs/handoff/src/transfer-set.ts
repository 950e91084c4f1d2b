import { assert } from '@baton/kernel';
import type { Micros } from '@baton/kernel';
import { transferRate } from './transfer-rate';

export interface TransferStart {
  readonly id: string;
  readonly sourceId: string;
  readonly targetId: string;
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

export interface CompletedTransfer {
  readonly id: string;
  readonly completedUs: Micros;
}

interface Transfer {
  readonly id: string;
  readonly source: LinkEnd;
  readonly target: LinkEnd;
  readonly flowsFromUs: Micros;
  /** Bytes left at `sinceUs`; they flow at `bytesPerUs` since then. */
  bytesLeft: number;
  sinceUs: Micros;
  bytesPerUs: number;
  completesUs: Micros;
}

/** One engine's link in one direction. It stays when idle: there are no more than engines. */
interface LinkEnd {
  bytesPerSecond: number;
  readonly transfers: Set<Transfer>;
  /** What the other side says about how many share its link, itself included; 0 = this set knows all of them. */
  announced: number;
}

const US_PER_SECOND = 1_000_000;
/** Floating point may put an exact division a hair above the whole microsecond. */
const ROUNDING_SLACK_US = 1e-6;

/**
 * Owns the progress of transfers over shared links. With all transfers of a cluster in it (the virtual driver) both counts are its own; with
 * one target's transfers (a live engine) the source's count is told by `setSourceShare`. Progress is settled only when a rate changes, and
 * completions are whole microseconds, so how often one asks changes nothing.
 */
export class TransferSet {
  private readonly transfers = new Map<string, Transfer>();
  private readonly sources = new Map<string, LinkEnd>();
  private readonly targets = new Map<string, LinkEnd>();
  private done: CompletedTransfer[] = [];
  private earliest: Transfer | undefined;
  private isEarliestKnown = true;
  private nowUs: Micros = 0;

  get size(): number {
    return this.transfers.size;
  }

  /** Starts a transfer. An id may be used again only after its transfer has completed or was cancelled. */
  start(start: TransferStart): void {
    assert(start.bytes >= 0 && start.baseLatencyUs >= 0, 'a transfer has a size and a latency');
    assert(start.sourceBytesPerSecond > 0 && start.targetBytesPerSecond > 0, 'links have capacity');
    this.advance(start.nowUs);
    assert(!this.transfers.has(start.id), `transfer ${start.id} is under way`);
    const transfer: Transfer = {
      id: start.id,
      source: endOf(this.sources, start.sourceId, start.sourceBytesPerSecond),
      target: endOf(this.targets, start.targetId, start.targetBytesPerSecond),
      flowsFromUs: this.nowUs + start.baseLatencyUs,
      bytesLeft: start.bytes,
      sinceUs: this.nowUs,
      bytesPerUs: 0,
      completesUs: Infinity,
    };
    this.transfers.set(transfer.id, transfer);
    if (start.sourceActiveReads !== undefined) {
      transfer.source.announced = start.sourceActiveReads;
    }
    transfer.source.transfers.add(transfer);
    transfer.target.transfers.add(transfer);
    this.retime(transfer.source, transfer.target);
  }

  /** Ends a transfer without completing it; false when it is not under way (any more). */
  cancel(id: string, nowUs: Micros): boolean {
    this.advance(nowUs);
    const transfer = this.transfers.get(id);
    if (transfer !== undefined) this.remove(transfer);
    return transfer !== undefined;
  }

  /**
   * The source says how many reads share its link. A count below the transfers that this set has from there is stale and has no effect.
   * The count falls by itself when one of them completes; the source's next word settles it.
   */
  setSourceShare(sourceId: string, activeReads: number, nowUs: Micros): void {
    this.advance(nowUs);
    const source = this.sources.get(sourceId);
    if (source === undefined || source.transfers.size === 0) return;
    if (source.announced === activeReads) return;
    source.announced = activeReads;
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
  completed(nowUs: Micros): readonly CompletedTransfer[] {
    this.advance(nowUs);
    const done = this.done;
    this.done = [];
    return done;
  }

  /** The present rate in bytes per second, 0 when not under way; the base latency does not show in it. */
  rateOf(id: string): number {
    return (this.transfers.get(id)?.bytesPerUs ?? 0) * US_PER_SECOND;
  }

  private remove(transfer: Transfer): void {
    const { source, target } = transfer;
    this.transfers.delete(transfer.id);
    source.transfers.delete(transfer);
    target.transfers.delete(transfer);
    if (source.announced > 0) source.announced -= 1;
    if (source.transfers.size === 0) source.announced = 0;
    this.isEarliestKnown = false;
    this.retime(source, target);
  }

  /** A count or capacity changed at these ends: what has flowed is settled at the old rate, the rest is timed at the new one. */
  private retime(...ends: LinkEnd[]): void {
    for (const end of ends) for (const transfer of end.transfers) this.retimeOne(transfer);
  }

  private retimeOne(transfer: Transfer): void {
    const { source, target } = transfer;
    const bytesPerUs =
      transferRate(
        {
          bytesPerSecond: source.bytesPerSecond,
          active: Math.max(source.transfers.size, source.announced),
        },
        { bytesPerSecond: target.bytesPerSecond, active: target.transfers.size },
      ) / US_PER_SECOND;
    if (bytesPerUs === transfer.bytesPerUs) return;
    const flowedUs = this.nowUs - Math.max(transfer.sinceUs, transfer.flowsFromUs);
    if (flowedUs > 0) {
      transfer.bytesLeft = Math.max(0, transfer.bytesLeft - flowedUs * transfer.bytesPerUs);
    }
    transfer.sinceUs = this.nowUs;
    transfer.bytesPerUs = bytesPerUs;
    const spanUs = Math.ceil(transfer.bytesLeft / bytesPerUs - ROUNDING_SLACK_US);
    transfer.completesUs = Math.max(this.nowUs, transfer.flowsFromUs) + Math.max(0, spanUs);
    this.isEarliestKnown = false;
  }

  private next(): Transfer | undefined {
    if (this.isEarliestKnown) return this.earliest;
    let earliest: Transfer | undefined;
    for (const transfer of this.transfers.values()) {
      if (earliest === undefined || transfer.completesUs < earliest.completesUs) {
        earliest = transfer;
      }
    }
    this.earliest = earliest;
    this.isEarliestKnown = true;
    return earliest;
  }
}

function endOf(ends: Map<string, LinkEnd>, id: string, bytesPerSecond: number): LinkEnd {
  const known = ends.get(id);
  if (known !== undefined) {
    known.bytesPerSecond = bytesPerSecond;
    return known;
  }
  const end: LinkEnd = { bytesPerSecond, transfers: new Set(), announced: 0 };
  ends.set(id, end);
  return end;
}
