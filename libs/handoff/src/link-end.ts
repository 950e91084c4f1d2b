import type { Micros } from '@baton/kernel';
import { linkShare } from './transfer-rate';

export interface Transfer<Id> {
  readonly id: Id;
  /** Transfers are numbered in the order of their start. */
  readonly number: number;
  readonly source: LinkEnd<Id>;
  readonly target: LinkEnd<Id>;
  readonly flowsFromUs: Micros;
  /** Bytes left at `sinceUs`; they flow at `bytesPerUs` since then. */
  bytesLeft: number;
  sinceUs: Micros;
  bytesPerUs: number;
  completesUs: Micros;
}

export const US_PER_SECOND = 1_000_000;

/** One engine's link in one direction. It stays when idle: there are no more than engines. */
export class LinkEnd<Id> {
  bytesPerSecond = 0;
  /** In no order. */
  readonly transfers: Transfer<Id>[] = [];
  /** What the other side says about how many share its link, itself included; 0 = this set knows all of them. */
  announced = 0;
  /** What each transfer gets of this link, in bytes per µs. */
  shareBytesPerUs = 0;
  private first: Transfer<Id> | undefined;

  /** Called when the count or the capacity has changed, before rates are asked for. */
  divide(): void {
    const active = Math.max(this.transfers.length, this.announced);
    const share = linkShare({ bytesPerSecond: this.bytesPerSecond, active });
    this.shareBytesPerUs = share / US_PER_SECOND;
  }

  add(transfer: Transfer<Id>): void {
    this.transfers.push(transfer);
  }

  remove(transfer: Transfer<Id>): void {
    const { transfers } = this;
    const place = transfers.indexOf(transfer);
    transfers[place] = transfers[transfers.length - 1]!;
    transfers.pop();
    if (this.announced > 0) this.announced -= 1;
    if (transfers.length === 0) this.announced = 0;
    if (this.first === transfer) this.first = undefined;
  }

  /** The completion of one of these transfers has moved away from `beforeUs`. */
  moved(transfer: Transfer<Id>, beforeUs: Micros): void {
    if (this.first === undefined) return;
    if (this.first !== transfer) {
      if (isBefore(transfer, this.first)) this.first = transfer;
    } else if (transfer.completesUs > beforeUs) {
      this.first = undefined;
    }
  }

  /** The transfer that completes first, of several the one that started first; looked for only when the one known was put off. */
  earliest(): Transfer<Id> | undefined {
    if (this.first !== undefined) return this.first;
    let first: Transfer<Id> | undefined;
    for (const transfer of this.transfers) {
      if (first === undefined || isBefore(transfer, first)) first = transfer;
    }
    this.first = first;
    return first;
  }
}

export function isBefore<Id>(a: Transfer<Id>, b: Transfer<Id>): boolean {
  return a.completesUs < b.completesUs || (a.completesUs === b.completesUs && a.number < b.number);
}
