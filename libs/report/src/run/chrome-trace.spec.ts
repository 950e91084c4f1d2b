import { describe, expect, it } from 'vitest';
import { testRun } from '../test-run';
import { busySpans } from './busy-spans';
import { chromeTrace } from './chrome-trace';

interface Event {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly id?: number;
  readonly ts: number;
  readonly dur?: number;
}

function traceOf(requests: number, traced?: number): { note: string; events: Event[] } {
  const run = testRun({ requests, roles: ['prefill', 'decode', 'aggregated'] });
  const { otherData, traceEvents } = JSON.parse([...chromeTrace(run, traced)].join('')) as {
    otherData: { note: string };
    traceEvents: Event[];
  };
  return { note: otherData.note, events: traceEvents };
}

describe('a trace', () => {
  it('names a process for the requests and one per engine', () => {
    const names = traceOf(20).events.filter(({ ph }) => ph === 'M');
    expect(names.map(({ pid }) => pid)).toEqual([1, 2, 3, 4]);
  });

  it('opens and closes every span of a request in order', () => {
    const open = new Map<number, string[]>();
    let spans = 0;
    for (const { ph, id = -1, name } of traceOf(400).events) {
      if (ph !== 'b' && ph !== 'e') continue;
      const stack = open.get(id) ?? [];
      open.set(id, stack);
      if (ph === 'b') stack.push(name);
      else expect(stack.pop()).toBe(name);
      spans++;
    }
    expect(spans).toBeGreaterThan(400 * 2);
    expect([...open.values()].flat()).toEqual([]);
    expect(open.size).toBe(400);
  });

  it('tells only of as many requests as asked for, and says so', () => {
    const { note, events } = traceOf(400, 25);
    expect(note).toBe('requests: the first 25 of 400');
    const ids = events.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(Math.max(...ids)).toBe(24);
    const counted = (all: readonly Event[]): number => all.filter(({ ph }) => ph === 'C').length;
    expect(counted(events)).toBeLessThan(counted(traceOf(400).events));
  });

  it('of an empty run is valid too', () => {
    expect(traceOf(0).events.every(({ ph }) => ph === 'M' || ph === 'C')).toBe(true);
  });

  it('shows when an engine had work as spans that do not touch', () => {
    const { log } = testRun({ requests: 300, roles: ['prefill', 'decode'] });
    for (const engine of [0, 1]) {
      const spans = busySpans(log, engine, Infinity);
      expect(spans.length).toBeGreaterThan(0);
      spans.reduce((before, span) => {
        expect(span.untilUs).toBeGreaterThanOrEqual(span.fromUs);
        expect(span.fromUs).toBeGreaterThan(before);
        return span.untilUs;
      }, -Infinity);
    }
  });
});
