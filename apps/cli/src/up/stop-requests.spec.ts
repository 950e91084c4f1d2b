import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { StopRequests } from './stop-requests';

function requestsAt(...timesMs: number[]): [first: boolean, second: boolean] {
  const source = new EventEmitter();
  let nowMs = 0;
  const requests = new StopRequests(source, () => nowMs);
  for (const timeMs of timesMs) {
    nowMs = timeMs;
    source.emit('SIGINT');
  }
  return [requests.first.aborted, requests.second.aborted];
}

describe('stop requests', () => {
  it('ask for an orderly stop first, and for a stop at once later', () => {
    expect(requestsAt()).toEqual([false, false]);
    expect(requestsAt(0)).toEqual([true, false]);
    expect(requestsAt(0, 1_000)).toEqual([true, true]);
  });

  it('count one key press once, though npm passes it on a second time', () => {
    expect(requestsAt(0, 3)).toEqual([true, false]);
    expect(requestsAt(0, 3, 2_000)).toEqual([true, true]);
  });

  it('are no longer heard once closed', () => {
    const source = new EventEmitter();
    new StopRequests(source).close();
    expect(source.eventNames()).toEqual([]);
  });
});
