import { assert } from './assert';
import type { Micros } from './time';

/** Room for 2^40 events in each priority; priority and sequence share one exact key. */
const SEQUENCES = 2 ** 40;
const PRIORITIES = 2 ** 12;

/**
 * The order of a simulation: a binary heap by (time, priority, order of insertion), so ties are
 * deterministic. It owns flat arrays and allocates only when it grows. Only the top is removed: a
 * caller whose event has become void recognises that when it comes out.
 */
export class EventQueue {
  private times: Float64Array;
  private ranks: Float64Array;
  private payloads: Int32Array;
  private count = 0;
  private pushed = 0;

  constructor(capacity = 64) {
    this.times = new Float64Array(capacity);
    this.ranks = new Float64Array(capacity);
    this.payloads = new Int32Array(capacity);
  }

  get size(): number {
    return this.count;
  }

  /** The time of the next event, Infinity when there is none. */
  peekTimeUs(): Micros {
    return this.count === 0 ? Infinity : this.times[0]!;
  }

  /** The payload of the first event, without removing it. */
  peek(): number {
    assert(this.count > 0, 'peek into an empty event queue');
    return this.payloads[0]!;
  }

  /**
   * @param priority lower comes first at the same time, an integer in [0, 4096)
   * @param payload any 32-bit integer
   */
  push(timeUs: Micros, priority: number, payload: number): void {
    assert(timeUs === timeUs, 'the time of an event is not a number');
    assert(priority >= 0 && priority < PRIORITIES, 'the priority of an event is out of range');
    if (this.count === this.times.length) this.grow();
    const rank = priority * SEQUENCES + this.pushed++;
    this.siftUp(this.count++, timeUs, rank, payload);
  }

  /**
   * Takes the first event out and returns its payload; its time is what `peekTimeUs` returned
   * before.
   */
  pop(): number {
    assert(this.count > 0, 'pop from an empty event queue');
    const top = this.payloads[0]!;
    const last = --this.count;
    if (last > 0) this.siftDown(this.times[last]!, this.ranks[last]!, this.payloads[last]!);
    return top;
  }

  private siftUp(start: number, timeUs: number, rank: number, payload: number): void {
    const { times, ranks } = this;
    let hole = start;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const parentUs = times[parent]!;
      if (parentUs < timeUs || (parentUs === timeUs && ranks[parent]! < rank)) break;
      this.move(parent, hole);
      hole = parent;
    }
    this.place(hole, timeUs, rank, payload);
  }

  private siftDown(timeUs: number, rank: number, payload: number): void {
    const { times, ranks, count } = this;
    let hole = 0;
    for (let child = 1; child < count; child = 2 * hole + 1) {
      if (child + 1 < count && this.isBefore(child + 1, child)) child++;
      const childUs = times[child]!;
      if (timeUs < childUs || (timeUs === childUs && rank < ranks[child]!)) break;
      this.move(child, hole);
      hole = child;
    }
    this.place(hole, timeUs, rank, payload);
  }

  private isBefore(a: number, b: number): boolean {
    const aUs = this.times[a]!;
    const bUs = this.times[b]!;
    return aUs < bUs || (aUs === bUs && this.ranks[a]! < this.ranks[b]!);
  }

  private move(from: number, to: number): void {
    this.times[to] = this.times[from]!;
    this.ranks[to] = this.ranks[from]!;
    this.payloads[to] = this.payloads[from]!;
  }

  private place(at: number, timeUs: number, rank: number, payload: number): void {
    this.times[at] = timeUs;
    this.ranks[at] = rank;
    this.payloads[at] = payload;
  }

  private grow(): void {
    const capacity = Math.max(64, this.times.length * 2);
    const { times, ranks, payloads } = this;
    this.times = new Float64Array(capacity);
    this.ranks = new Float64Array(capacity);
    this.payloads = new Int32Array(capacity);
    this.times.set(times);
    this.ranks.set(ranks);
    this.payloads.set(payloads);
  }
}
