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
  it('request an orderly stop first, and an immediate stop later', () => {
    expect(requestsAt()).toEqual([false, false]);
    expect(requestsAt(0)).toEqual([true, false]);
    expect(requestsAt(0, 1_000)).toEqual([true, true]);
  });

  it('count one key press once, even if npm repeats it', () => {
    expect(requestsAt(0, 3)).toEqual([true, false]);
    expect(requestsAt(0, 3, 2_000)).toEqual([true, true]);
  });

  it('are ignored after close', () => {
    const source = new EventEmitter();
    new StopRequests(source).stopListening();
    expect(source.eventNames()).toEqual([]);
  });
});
