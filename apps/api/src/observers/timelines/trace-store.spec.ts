import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { History } from '../../sequences/history';
import { type RequestTrace, SequenceTrace } from './request-trace';
import { TraceStore } from './trace-store';

function requestOf(id: string, requestId = id, owner?: string): RequestTrace {
  return {
    owner,
    id,
    requestId,
    endpoint: '/v1/completions',
    model: 'm',
    arrivalUs: 0,
    sequences: [sequenceOf(id, 0)],
    endedMs: undefined,
  };
}

function sequenceOf(id: string, index: number): SequenceTrace {
  const job = { requestId: `${id}-${index}`, promptTokens: 1, flow: 'local' } as const;
  return new SequenceTrace(job, index, new History(0, 'local'));
}

/** A request with many sequences, such as one with 2,048 texts to embed. */
function largeRequest(id: string, sequences: number): RequestTrace {
  const many = Array.from({ length: sequences }, (_none, index) => sequenceOf(id, index));
  return { ...requestOf(id), sequences: many };
}

function end(store: TraceStore, request: RequestTrace, nowMs: number): void {
  for (const sequence of request.sequences) sequence.end = { reason: 'stop', atUs: nowMs };
  store.settle(request, nowMs);
}

describe('the store of traces', () => {
  it('keeps running requests and the latest ended ones', () => {
    const store = new TraceStore({ maxEntries: 3, ttlMs: 1_000 });
    const random = RandomStream.root(1).stream('traces');
    const all = Array.from({ length: 200 }, (_none, i) => requestOf(`r${i}`));
    const running = new Set<RequestTrace>();
    const ended: RequestTrace[] = [];
    for (const [i, request] of all.entries()) {
      store.add(request);
      running.add(request);
      while (running.size > 0 && random.integer(3) > 0) {
        const [next] = running;
        running.delete(next!);
        end(store, next!, i);
        ended.push(next!);
      }
      expect(store.size).toBeLessThanOrEqual(3);
      for (const each of running)
        expect(store.find({ owner: undefined, id: each.id }, i)).toBe(each);
      for (const each of ended.slice(-3))
        expect(store.find({ owner: undefined, id: each.id }, i)).toBe(each);
      for (const each of ended.slice(0, -3)) {
        expect(store.find({ owner: undefined, id: each.id }, i)).toBeUndefined();
        expect(store.sequence(`${each.id}-0`)).toBeUndefined();
      }
    }
  });

  it('counts four sequences of a request as one entry, and keeps the last request', () => {
    const store = new TraceStore({ maxEntries: 100, ttlMs: 1_000 });
    const isKept = (id: string): boolean => store.find({ owner: undefined, id }, 0) !== undefined;
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) {
      const request = largeRequest(id, 160);
      store.add(request);
      end(store, request, 0);
    }
    expect(ids.filter(isKept)).toEqual(['c', 'd']);
    const largest = largeRequest('e', 2_048);
    store.add(largest);
    end(store, largest, 0);
    expect([...ids, 'e'].filter(isKept)).toEqual(['e']);
    expect(store.sequence('d-159')).toBeUndefined();
  });

  it('drops ended requests after their time, and no running ones', () => {
    const store = new TraceStore({ maxEntries: 10, ttlMs: 1_000 });
    const [a, b] = [requestOf('a'), requestOf('b')];
    store.add(a);
    store.add(b);
    end(store, a, 500);
    expect(store.find({ owner: undefined, id: 'a' }, 1_499)).toBe(a);
    expect(store.find({ owner: undefined, id: 'a' }, 1_500)).toBeUndefined();
    expect(store.find({ owner: undefined, id: 'b' }, 1e9)).toBe(b);
  });

  it('resolves a shared name to the newer request, also after the older one is dropped', () => {
    const store = new TraceStore({ maxEntries: 1, ttlMs: 1_000 });
    const [first, second] = [requestOf('a', 'same'), requestOf('b', 'same')];
    for (const request of [first, second]) {
      store.add(request);
      end(store, request, 0);
    }
    expect(store.find({ owner: undefined, id: 'same' }, 0)).toBe(second);
    expect(store.find({ owner: undefined, id: 'a' }, 0)).toBeUndefined();
  });

  it('keeps the requests of a tenant while another one ends many', () => {
    const store = new TraceStore({ maxEntries: 4, ttlMs: 1_000 });
    const quiet = requestOf('q', 'q', 'quiet');
    const busy = Array.from({ length: 20 }, (_none, i) => requestOf(`b${i}`, `b${i}`, 'busy'));
    for (const [i, request] of [quiet, ...busy].entries()) {
      store.add(request);
      end(store, request, i);
    }
    expect(store.size).toBe(4);
    expect(store.find({ owner: 'quiet', id: 'q' }, 21)).toBe(quiet);
    const kept = busy.filter(({ id }) => store.find({ owner: 'busy', id }, 21) !== undefined);
    expect(kept).toEqual(busy.slice(-3));
  });

  it('drops the ended requests of a tenant that sends no more after their time', () => {
    const store = new TraceStore({ maxEntries: 4, ttlMs: 1_000 });
    const [first, second] = [requestOf('a', 'a', 'one'), requestOf('b', 'b', 'two')];
    for (const [i, request] of [first, second].entries()) {
      store.add(request);
      end(store, request, i * 1_000);
    }
    expect(store.size).toBe(1);
  });
});
