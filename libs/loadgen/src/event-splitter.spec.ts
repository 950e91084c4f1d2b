import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { EventSplitter } from './event-splitter';

function eventsOf(chunks: readonly Buffer[]): { events: string[]; isStream: boolean } {
  const events: string[] = [];
  const splitter = new EventSplitter((bytes, from, to) => {
    events.push(bytes.toString('utf8', from, to));
  });
  const isStream = chunks.map((chunk) => splitter.push(chunk)).every(Boolean);
  splitter.endStream();
  return { events, isStream };
}

const STREAM = [
  'data: {"text":"äöü – 漢字"}\n\n',
  ': a comment\n\n',
  'event: delta\nid: 7\ndata: {"a":1}\r\n\r\n',
  'data:without a blank\n\n',
  'data: \n\n',
  'database: no\n\n',
  'data: [DONE]',
].join('');
const EVENTS = ['{"text":"äöü – 漢字"}', '{"a":1}', 'without a blank', '[DONE]'];

describe('events of a stream', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('are the same for any cut of its bytes (seed %i)', (seed) => {
    const random = RandomStream.root(seed).stream('cuts');
    const bytes = Buffer.from(STREAM);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const to = at + 1 + random.integer(seed * 4);
      chunks.push(bytes.subarray(at, to));
      at = to;
    }
    expect(eventsOf(chunks)).toEqual({ events: EVENTS, isStream: true });
  });

  it('are not searched for in an endless line', () => {
    const endless = Array.from({ length: 5 }, () => Buffer.alloc(1 << 20, 'x'));
    expect(eventsOf(endless).isStream).toBe(false);
  });
});
