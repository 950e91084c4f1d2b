import { Fifo } from '@baton/kernel';
import type { Owned } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { hasEnded, type RequestTrace, type SequenceTrace } from './request-trace';

export interface StoreBounds {
  /** Limit of ended requests; the oldest of the tenant with the most are dropped first. */
  readonly maxEntries: number;
  readonly ttlMs: number;
}

/**
 * The traces of running requests and of the last ended ones. A request is found under the id of its
 * answer, its X-Request-Id (the newest of its tenant) and the internal ids of its sequences; only
 * its own tenant finds it.
 */
export class TraceStore {
  /** Per tenant, so that a busy tenant does not evict the requests of the others. */
  private readonly ended = new Map<Tenant, Fifo<RequestTrace>>();
  private readonly byName = new Map<string, RequestTrace>();
  private readonly bySequence = new Map<string, SequenceTrace>();

  /** Ended requests that are kept. */
  size = 0;

  constructor(private readonly bounds: StoreBounds) {}

  add(request: RequestTrace): void {
    for (const name of namesOf(request)) this.byName.set(name, request);
    for (const sequence of request.sequences) {
      this.bySequence.set(sequence.job.requestId, sequence);
    }
  }

  /** Call it when a sequence of the request has ended. */
  settle(request: RequestTrace, nowMs: number): void {
    if (!hasEnded(request) || request.endedMs !== undefined) return;
    request.endedMs = nowMs;
    const own = this.ended.get(request.owner) ?? new Fifo<RequestTrace>();
    this.ended.set(request.owner, own);
    own.push(request);
    this.size += 1;
    this.forget(nowMs);
  }

  find({ owner, id }: Owned, nowMs: number): RequestTrace | undefined {
    this.forget(nowMs);
    return this.byName.get(nameFor(owner, id));
  }

  sequence(requestId: string): SequenceTrace | undefined {
    return this.bySequence.get(requestId);
  }

  private forget(nowMs: number): void {
    const oldestMs = nowMs - this.bounds.ttlMs;
    for (const [owner, own] of this.ended) {
      while ((own.peek()?.endedMs ?? Infinity) <= oldestMs) this.drop(own.shift()!);
      if (own.length === 0) this.ended.delete(owner);
    }
    while (this.size > this.bounds.maxEntries) this.drop(this.longest().shift()!);
  }

  /** The ended requests of the tenant with the most. */
  private longest(): Fifo<RequestTrace> {
    return [...this.ended.values()].reduce((a, b) => (b.length > a.length ? b : a));
  }

  private drop(request: RequestTrace): void {
    this.size -= 1;
    for (const name of namesOf(request)) {
      if (this.byName.get(name) === request) this.byName.delete(name);
    }
    for (const { job } of request.sequences) this.bySequence.delete(job.requestId);
  }
}

function namesOf({ owner, id, requestId, sequences }: RequestTrace): string[] {
  const names = [id, requestId];
  for (const { job } of sequences) names.push(job.requestId);
  return owner === undefined ? names : names.map((name) => nameFor(owner, name));
}

/** Neither a tenant nor an id contains a space. */
function nameFor(owner: Tenant, id: string): string {
  return owner === undefined ? id : `${owner} ${id}`;
}
