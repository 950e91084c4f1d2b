import type { EngineOptions } from './types';
import type { Sequence } from './sequence';
import { SequenceHeap } from './sequence-heap';

export type SchedulingOptions = Pick<EngineOptions, 'schedulingPolicy' | 'sjfAgingTokensPerSecond'>;

/** Whether `a` is scheduled before `b`. */
export type SchedulingOrder = (a: Sequence, b: Sequence) => boolean;

/**
 * `fcfs` and `priority` are the orders of vLLM's waiting queue: by submission, in which a preempted sequence stands before all that were
 * never admitted, and by the lower number, then the earlier arrival. `sjf` is not vLLM's: the fewest tokens to compute first.
 */
export function schedulingOrder(options: SchedulingOptions): SchedulingOrder {
  const { schedulingPolicy, sjfAgingTokensPerSecond = 0 } = options;
  if (schedulingPolicy === 'fcfs') return (a, b) => a.order < b.order;
  if (schedulingPolicy === 'sjf') return shortestFirst(sjfAgingTokensPerSecond / 1e6);
  return (a, b) => {
    if (a.priority !== b.priority) return a.priority < b.priority;
    if (a.arrivalUs !== b.arrivalUs) return a.arrivalUs < b.arrivalUs;
    return a.order < b.order;
  };
}

/**
 * Waiting shortens a sequence by as many tokens per µs as any other, so the difference between two never changes: that of their tokens and
 * their arrivals. What the prefix cache holds does change, and does not count.
 */
function shortestFirst(agingTokensPerUs: number): SchedulingOrder {
  const length = (seq: Sequence): number =>
    seq.targetTokens - seq.computed + agingTokensPerUs * seq.arrivalUs;
  return (a, b) => {
    const difference = length(a) - length(b);
    return difference === 0 ? a.order < b.order : difference < 0;
  };
}

/**
 * Everything that wants to run and does not: sequences without blocks (`waiting`), those whose KV came from elsewhere and that hold
 * their blocks already (`ready`), and remote prefills that wait for a reservation (`unreserved`).
 */
export class WaitingQueue {
  private readonly waiting: SequenceHeap;
  private readonly ready: SequenceHeap;
  private readonly unreserved: SequenceHeap;
  /** Tokens that the waiting and ready ones have to compute before they generate. */
  tokens = 0;

  constructor(private readonly isBefore: SchedulingOrder) {
    this.waiting = new SequenceHeap(isBefore);
    this.ready = new SequenceHeap(isBefore);
    this.unreserved = new SequenceHeap(isBefore);
  }

  /** Waiting and ready sequences. */
  get size(): number {
    return this.waiting.size + this.ready.size;
  }

  get unreservedSize(): number {
    return this.unreserved.size;
  }

  addWaiting(seq: Sequence): void {
    seq.state = 'waiting';
    this.waiting.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  addReady(seq: Sequence): void {
    seq.state = 'ready';
    this.ready.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  /** A waiting or ready sequence that was removed, in the place that it had. */
  putBack(seq: Sequence): void {
    if (seq.state === 'ready') this.addReady(seq);
    else this.addWaiting(seq);
  }

  addUnreserved(seq: Sequence): void {
    seq.state = 'unreserved';
    this.unreserved.push(seq);
  }

  remove(seq: Sequence): void {
    if (seq.state === 'unreserved') {
      this.unreserved.remove(seq);
      return;
    }
    (seq.state === 'ready' ? this.ready : this.waiting).remove(seq);
    this.tokens -= seq.targetTokens - seq.computed;
  }

  /**
   * The next to be admitted. With `readyOnly` a ready one, whatever stands before it: those hold blocks that the others may be waiting
   * for, and would wait forever behind them.
   */
  next(readyOnly: boolean): Sequence | undefined {
    const ready = this.ready.peek();
    const waiting = readyOnly ? undefined : this.waiting.peek();
    if (ready === undefined || waiting === undefined) return ready ?? waiting;
    return this.isBefore(waiting, ready) ? waiting : ready;
  }

  /** The next to get a reservation: none while a waiting one stands before it, which needs blocks as well. */
  nextUnreserved(): Sequence | undefined {
    const seq = this.unreserved.peek();
    const waiting = this.waiting.peek();
    if (seq === undefined || waiting === undefined) return seq;
    return this.isBefore(waiting, seq) ? undefined : seq;
  }
}
