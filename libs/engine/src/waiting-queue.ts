import type { SequenceHandle } from './port/engine-port';
import type { SchedulingPolicy } from './port/scheduling-policy';
import type { EngineSequence } from './sequence';
import { SequenceHeap } from './sequence-heap';

/** Whether `a` is scheduled before `b`, by the keys that they got on entry to the queue. */
export function isBefore(a: EngineSequence, b: EngineSequence): boolean {
  if (a.key !== b.key) return a.key < b.key;
  if (a.tieKey !== b.tieKey) return a.tieKey < b.tieKey;
  return a.order < b.order;
}

/**
 * All sequences that wait to run: those without blocks (`waiting`), those whose KV came from
 * elsewhere and that already hold their blocks (`ready`), and remote prefills that wait for a
 * reservation (`unreserved`).
 */
export class WaitingQueue {
  private readonly waiting = new SequenceHeap(isBefore);
  private readonly ready = new SequenceHeap(isBefore);
  private readonly unreserved = new SequenceHeap(isBefore);
  /** Tokens that waiting and ready sequences must compute before they generate. */
  tokens = 0;

  private firstOrder = 0;

  constructor(private readonly policy: SchedulingPolicy) {}

  /** Whether preemption takes the last sequence of this order instead of the newest. */
  get preemptsLast(): boolean {
    return this.policy.preemptsLast === true;
  }

  /** Waiting and ready sequences. */
  get size(): number {
    return this.waiting.size + this.ready.size;
  }

  get unreservedSize(): number {
    return this.unreserved.size;
  }

  addWaiting(seq: EngineSequence): void {
    seq.state = 'waiting';
    this.rank(seq);
    this.waiting.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  /**
   * Adds a sequence that ran. Under `resumesFirst` it comes before all others, the latest first.
   */
  addPreempted(seq: EngineSequence): void {
    if (this.policy.resumesFirst === true) seq.order = --this.firstOrder;
    this.addWaiting(seq);
  }

  addReady(seq: EngineSequence): void {
    seq.state = 'ready';
    this.rank(seq);
    this.ready.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  /** Returns a removed sequence to its place. */
  putBack(seq: EngineSequence): void {
    if (seq.state === 'ready') this.addReady(seq);
    else if (seq.state === 'unreserved') this.addUnreserved(seq);
    else this.addWaiting(seq);
  }

  addUnreserved(seq: EngineSequence): void {
    seq.state = 'unreserved';
    this.rank(seq);
    this.unreserved.push(seq);
  }

  remove(seq: EngineSequence): void {
    if (seq.state === 'unreserved') {
      this.unreserved.remove(seq);
      return;
    }
    (seq.state === 'ready' ? this.ready : this.waiting).remove(seq);
    this.tokens -= seq.targetTokens - seq.computed;
  }

  /**
   * The next to be considered: a ready one first, because it holds blocks that others may be
   * waiting for.
   */
  next(): EngineSequence | undefined {
    const ready = this.ready.peek();
    if (ready !== undefined) return ready;
    const waiting = this.waiting.peek();
    const unreserved = this.unreserved.peek();
    if (waiting === undefined || unreserved === undefined) return waiting ?? unreserved;
    return isBefore(waiting, unreserved) ? waiting : unreserved;
  }

  /** The sequences without blocks, next first, for tests. O(n log n). */
  inOrder(): SequenceHandle[] {
    const all = [...this.waiting.toArray(), ...this.unreserved.toArray()];
    all.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return all.map(({ handle }) => handle);
  }

  private rank(seq: EngineSequence): void {
    seq.key = this.policy.key(seq);
    seq.tieKey = this.policy.tieKey?.(seq) ?? 0;
  }
}
