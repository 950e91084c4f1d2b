import type { KvLayout } from './kv-layout';

/**
 * The steps at which owners that grow by one token per step free blocks of groups with a sliding
 * window. An owner does so at every `period`-th step, so it has a phase. Before its context has
 * outgrown the window it frees none, and only the step is known from which its phase counts. No
 * work is done per owner and step. An owner is identified by its context at step 0, which can be
 * negative.
 */
export class WindowPhases {
  /** Members whose phase counts, by phase. */
  private readonly counts: Int32Array;
  /** Other members, by the step from which their phase counts. */
  private readonly later = new Map<number, number>();
  /** The keys of `later`, ascending. */
  private readonly starts: number[] = [];
  /** Members whose phase counts from this step or an earlier one are in `counts`. */
  private startedAt = -1;

  constructor(private readonly layout: KvLayout) {
    this.counts = new Int32Array(layout.period);
  }

  /** Adds an owner that has freed all it can up to the current step. */
  add(contextOffset: number): void {
    const start = this.layout.offset - contextOffset;
    if (start <= this.startedAt) {
      this.counts[this.phaseOf(start)]!++;
      return;
    }
    const others = this.later.get(start) ?? 0;
    this.later.set(start, others + 1);
    if (others === 0) this.starts.splice(this.placeOf(start), 0, start);
  }

  remove(contextOffset: number): void {
    const start = this.layout.offset - contextOffset;
    if (start <= this.startedAt) {
      this.counts[this.phaseOf(start)]!--;
      return;
    }
    const others = this.later.get(start)! - 1;
    this.later.set(start, others);
    if (others > 0) return;
    this.later.delete(start);
    this.starts.splice(this.placeOf(start), 1);
  }

  /** Activates the phases that start at this step or before, when the step is done. */
  startUpTo(step: number): void {
    if (step <= this.startedAt) return;
    this.startedAt = step;
    const { starts, later } = this;
    let due = 0;
    for (; due < starts.length && starts[due]! <= step; due++) {
      this.counts[this.phaseOf(starts[due]!)]! += later.get(starts[due]!)!;
      later.delete(starts[due]!);
    }
    if (due > 0) starts.splice(0, due);
  }

  /** Blocks of each windowed group that members free at this step. */
  givenAt(step: number): number {
    return this.counts[this.phaseOf(step)]! * this.layout.blocksPerPeriod;
  }

  /** Blocks freed in the `count` steps after `step`; `count` is at most `stepsKnown`. */
  givenBehind(step: number, count: number): number {
    const { period } = this.layout;
    const rounds = Math.floor(count / period);
    let members = 0;
    if (rounds > 0) for (let phase = 0; phase < period; phase++) members += this.counts[phase]!;
    let given = rounds * members * this.layout.blocksPerPeriod;
    for (let i = count - rounds * period; i >= 1; i--) given += this.givenAt(step + i);
    return given;
  }

  /** The number of the `count` steps after `step` in which no later phase frees any block. */
  stepsKnown(step: number, count: number): number {
    this.startUpTo(step);
    const [first] = this.starts;
    return first === undefined ? count : Math.min(count, first + this.layout.period - 1 - step);
  }

  private phaseOf(step: number): number {
    const rest = step % this.layout.period;
    return rest < 0 ? rest + this.layout.period : rest;
  }

  /** The place of `start` among the starts, present or not. */
  private placeOf(start: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
