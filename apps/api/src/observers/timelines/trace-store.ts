import { Fifo } from '@baton/kernel';
import type { Owned } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { hasEnded, type RequestTrace, type SequenceTrace } from './request-trace';

/** Sequences of a request that count as one entry: one request may have thousands. */
const SEQUENCES_PER_ENTRY = 4;

export interface StoreBounds {
  /**
   * Limit of entries of ended requests; the oldest of the tenant with the most are dropped first.
   * The last request stays, whatever its size.
   */
  readonly maxEntries: number;
  readonly ttlMs: number;
}

/** The ended requests of one tenant, the oldest first. */
interface EndedRequests {
  readonly requests: Fifo<RequestTrace>;
  entries: number;
}

/**
 * The traces of running requests and of the last ended ones. A request is found under the id of its
 * answer, its X-Request-Id (the newest of its tenant) and the internal ids of its sequences; only
 * its own tenant finds it.
 */
export class TraceStore {
  /** Per tenant, so that a busy tenant does not evict the requests of the others. */
  private readonly ended = new Map<Tenant, EndedRequests>();
  private readonly byName = new Map<string, RequestTrace>();
  private readonly bySequence = new Map<string, SequenceTrace>();

  /** Entries of ended requests that are kept. */
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
    const own = this.ended.get(request.owner) ?? { requests: new Fifo<RequestTrace>(), entries: 0 };
    this.ended.set(request.owner, own);
    own.requests.push(request);
    own.entries += entriesOf(request);
    this.size += entriesOf(request);
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
    for (const own of this.ended.values()) {
      while ((own.requests.peek()?.endedMs ?? Infinity) <= oldestMs) this.dropOldest(own);
    }
    while (this.size > this.bounds.maxEntries) {
      const own = this.largest();
      if (this.ended.size === 1 && own.requests.length === 1) break;
      this.dropOldest(own);
    }
  }

  /** The ended requests of the tenant with the most entries. */
  private largest(): EndedRequests {
    return [...this.ended.values()].reduce((a, b) => (b.entries > a.entries ? b : a));
  }

  private dropOldest(own: EndedRequests): void {
    const request = own.requests.shift()!;
    own.entries -= entriesOf(request);
    this.size -= entriesOf(request);
    if (own.requests.length === 0) this.ended.delete(request.owner);
    for (const name of namesOf(request)) {
      if (this.byName.get(name) === request) this.byName.delete(name);
    }
    for (const { job } of request.sequences) this.bySequence.delete(job.requestId);
  }
}

function entriesOf({ sequences }: RequestTrace): number {
  return Math.ceil(sequences.length / SEQUENCES_PER_ENTRY);
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
