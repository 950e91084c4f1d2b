import type { EngineOptions } from './port/engine-options';
import type { SequenceHandle } from './port/engine-port';
import type { EngineSequence } from './sequence';
import { SequenceHeap } from './sequence-heap';

export type SchedulingOptions = Pick<EngineOptions, 'schedulingPolicy' | 'sjfAgingTokensPerSecond'>;

/** Whether `a` is scheduled before `b`. */
export type SchedulingOrder = (a: EngineSequence, b: EngineSequence) => boolean;

/**
 * `fcfs` and `priority` are the orders of vLLM's waiting queue: by submission, in which a preempted
 * sequence stands before all that were never admitted, and by the lower number, then the earlier
 * arrival. `sjf` is not vLLM's: the fewest tokens to compute first.
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
 * Waiting shortens every sequence by the same tokens per µs, so the difference between two, which
 * follows from their tokens and arrivals, never changes. The content of the prefix cache does
 * change, and does not count.
 */
function shortestFirst(agingTokensPerUs: number): SchedulingOrder {
  const length = (seq: EngineSequence): number =>
    seq.targetTokens - seq.computed + agingTokensPerUs * seq.arrivalUs;
  return (a, b) => {
    const difference = length(a) - length(b);
    return difference === 0 ? a.order < b.order : difference < 0;
  };
}

/**
 * All sequences that wait to run: those without blocks (`waiting`), those whose KV came from
 * elsewhere and that hold their blocks already (`ready`), and remote prefills that wait for a
 * reservation (`unreserved`).
 */
export class WaitingQueue {
  private readonly waiting: SequenceHeap;
  private readonly ready: SequenceHeap;
  private readonly unreserved: SequenceHeap;
  /** Tokens that the waiting and ready ones have to compute before they generate. */
  tokens = 0;

  private firstOrder = 0;

  /**
   * @param prependsPreempted whether a preempted sequence goes before all others, as under `fcfs`
   */
  constructor(
    private readonly isBefore: SchedulingOrder,
    private readonly prependsPreempted: boolean,
  ) {
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

  addWaiting(seq: EngineSequence): void {
    seq.state = 'waiting';
    this.waiting.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  /** One that ran: under `fcfs` it stands before all others, the last of several first. */
  addPreempted(seq: EngineSequence): void {
    if (this.prependsPreempted) seq.order = --this.firstOrder;
    this.addWaiting(seq);
  }

  addReady(seq: EngineSequence): void {
    seq.state = 'ready';
    this.ready.push(seq);
    this.tokens += seq.targetTokens - seq.computed;
  }

  /** A sequence that was removed, in the place that it had. */
  putBack(seq: EngineSequence): void {
    if (seq.state === 'ready') this.addReady(seq);
    else if (seq.state === 'unreserved') this.addUnreserved(seq);
    else this.addWaiting(seq);
  }

  addUnreserved(seq: EngineSequence): void {
    seq.state = 'unreserved';
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
   * The next to be considered: a ready one first, since it holds blocks that the others may be
   * waiting for.
   */
  next(): EngineSequence | undefined {
    const ready = this.ready.peek();
    if (ready !== undefined) return ready;
    const waiting = this.waiting.peek();
    const unreserved = this.unreserved.peek();
    if (waiting === undefined || unreserved === undefined) return waiting ?? unreserved;
    return this.isBefore(waiting, unreserved) ? waiting : unreserved;
  }

  /** The sequences without blocks, the next first. For tests: O(n log n). */
  inOrder(): SequenceHandle[] {
    const all = [...this.waiting.toArray(), ...this.unreserved.toArray()];
    all.sort((a, b) => (this.isBefore(a, b) ? -1 : 1));
    return all.map(({ handle }) => handle);
  }
}
