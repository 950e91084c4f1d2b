import { linkShare } from './transfer-rate';

export const US_PER_SECOND = 1_000_000;

/** Stands for the place of no transfer. */
export const NO_TRANSFER = -1;

/**
 * One engine's link in one direction. It is kept when idle, because there is at most one per
 * engine.
 */
export class LinkEnd {
  bytesPerSecond = 0;
  /** Slots of the transfers of this link end, in no particular order. */
  readonly slots: number[] = [];
  /**
   * The other side's count of readers on its link, this one included; 0 = this set has all of them.
   */
  announced = 0;
  /** Each transfer's share of this link, in bytes per µs. */
  shareBytesPerUs = 0;
  /** The transfer of this target that completes first; UNKNOWN without one. Only for targets. */
  first = NO_TRANSFER;
  /** True when `first` can be out of date. Only for targets. */
  isStale = false;

  /** @param place  of a target: its number among those of the set */
  constructor(readonly place: number) {}

  /** Call it when the count or the capacity has changed, before rates are read. */
  divide(): void {
    const active = Math.max(this.slots.length, this.announced);
    this.shareBytesPerUs = linkShare(this.bytesPerSecond, active) / US_PER_SECOND;
  }

  remove(slot: number): void {
    const { slots } = this;
    let place = slots.length - 1;
    const last = slots[place]!;
    while (slots[place] !== slot) place -= 1;
    slots[place] = last;
    slots.pop();
    if (this.announced > 0) this.announced -= 1;
    if (slots.length === 0) this.announced = 0;
  }
}
