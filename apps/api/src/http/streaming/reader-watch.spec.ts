import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ReaderWatch } from './reader-watch';

function responseWith(socket: { bytesWritten: number; writableLength: number }): ServerResponse {
  return Object.assign(new EventEmitter(), { socket }) as unknown as ServerResponse;
}

describe('the reader watch', () => {
  const startMs = performance.now();

  it('disconnects a client that reads nothing for over 30 s', () => {
    const watch = new ReaderWatch();
    const stuck: string[] = [];
    const socket = { bytesWritten: 5_000, writableLength: 1_000 };
    watch.watch(responseWith(socket), () => stuck.push('stuck'));
    for (let second = 1; second <= 29; second += 1) watch.sweep(startMs + second * 1_000);
    expect(stuck).toEqual([]);
    watch.sweep(startMs + 32_000);
    watch.sweep(startMs + 70_000);
    expect(stuck).toEqual(['stuck']);
  });

  it('keeps a slow client as long as it reads something', () => {
    const watch = new ReaderWatch();
    const stuck: string[] = [];
    const socket = { bytesWritten: 10_000, writableLength: 9_000 };
    watch.watch(responseWith(socket), () => stuck.push('stuck'));
    for (let second = 1; second <= 300; second += 1) {
      if (second % 20 === 0) socket.writableLength -= 100;
      watch.sweep(startMs + second * 1_000);
    }
    expect(stuck).toEqual([]);
  });

  it('ignores a stream that has nothing to send', () => {
    const watch = new ReaderWatch();
    const stuck: string[] = [];
    watch.watch(responseWith({ bytesWritten: 100, writableLength: 0 }), () => stuck.push('stuck'));
    for (const seconds of [1, 40, 80]) watch.sweep(startMs + seconds * 1_000);
    expect(stuck).toEqual([]);
  });
});
