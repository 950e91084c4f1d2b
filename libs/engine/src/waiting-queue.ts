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

/** The states of a sequence in the queue. */
export type WaitingState = 'waiting' | 'unreserved' | 'ready';

/**
 * All sequences that wait to run: those without blocks (`waiting`, and `unreserved` when their KV
 * comes from elsewhere), and those that hold blocks for it (`ready`), vLLM's `kv_holding_waiting`.
 */
export class WaitingQueue {
  private readonly waiting = new SequenceHeap(isBefore);
  private readonly ready = new SequenceHeap(isBefore);
  /** Waiting, ready and unreserved sequences. */
  length = 0;
  /** Those without blocks that wait for a reservation. */
  unreservedSize = 0;
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
    return this.length - this.unreservedSize;
  }

  /** Adds a sequence at its place; unset, in the state in which it was removed. */
  add(seq: EngineSequence, state?: WaitingState): void {
    seq.state = state ?? seq.state;
    seq.key = this.policy.key(seq);
    seq.tieKey = this.policy.tieKey?.(seq) ?? 0;
    this.heapOf(seq).push(seq);
    this.count(seq, 1);
  }

  /**
   * Adds a sequence that ran. Under `resumesFirst` it comes before all others, the latest first.
   */
  addPreempted(seq: EngineSequence): void {
    if (this.policy.resumesFirst === true) seq.order = --this.firstOrder;
    this.add(seq, 'waiting');
  }

  remove(seq: EngineSequence): void {
    this.heapOf(seq).remove(seq);
    this.count(seq, -1);
  }

  /**
   * The next to be considered: a ready one first, because it holds blocks that others may be
   * waiting for.
   */
  next(): EngineSequence | undefined {
    return this.ready.peek() ?? this.waiting.peek();
  }

  /** The sequences without blocks, next first, for tests. O(n log n). */
  inOrder(): SequenceHandle[] {
    const all = [...this.waiting.toArray()];
    all.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return all.map(({ handle }) => handle);
  }

  private heapOf({ state }: EngineSequence): SequenceHeap {
    return state === 'ready' ? this.ready : this.waiting;
  }

  private count(seq: EngineSequence, by: 1 | -1): void {
    this.length += by;
    if (seq.state === 'unreserved') this.unreservedSize += by;
    else this.tokens += by * (seq.targetTokens - seq.computed);
  }
}
