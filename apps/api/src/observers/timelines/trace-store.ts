import { Fifo } from '@baton/kernel';
import type { Owned } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { hasEnded, type RequestTrace, type SequenceTrace } from './request-trace';

export interface StoreBounds {
  /** Limit of ended requests; the oldest are dropped first. */
  readonly maxEntries: number;
  readonly ttlMs: number;
}

/**
 * The traces of running requests and of the last ended ones. A request is found under the id of its
 * answer, its X-Request-Id (the newest of its tenant) and the internal ids of its sequences; only
 * its own tenant finds it.
 */
export class TraceStore {
  private readonly ended = new Fifo<RequestTrace>();
  private readonly byName = new Map<string, RequestTrace>();
  private readonly bySequence = new Map<string, SequenceTrace>();

  constructor(private readonly bounds: StoreBounds) {}

  /** Ended requests that are kept. */
  get size(): number {
    return this.ended.length;
  }

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
    this.ended.push(request);
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
    for (let oldest = this.ended.peek(); oldest !== undefined; oldest = this.ended.peek()) {
      const isOld = (oldest.endedMs ?? nowMs) + this.bounds.ttlMs <= nowMs;
      if (!isOld && this.ended.length <= this.bounds.maxEntries) return;
      this.ended.shift();
      this.drop(oldest);
    }
  }

  private drop(request: RequestTrace): void {
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
