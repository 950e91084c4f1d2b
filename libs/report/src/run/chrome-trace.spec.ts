import { describe, expect, it } from 'vitest';
import { testRun } from '../../test/test-run';
import { chromeTrace, type TraceParts } from './chrome-trace';

interface Event {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly id?: number;
  readonly ts: number;
  readonly dur?: number;
}

interface Trace {
  readonly note: string;
  readonly events: readonly Event[];
}

function traceOf(count: number, parts: Partial<TraceParts> = {}): Trace {
  const run = testRun({ requests: count, roles: ['prefill', 'decode', 'aggregated'] });
  const pieces = chromeTrace({ run, steps: [], requests: 10_000, ...parts });
  const { otherData, traceEvents } = JSON.parse([...pieces].join('')) as {
    otherData: { note: string };
    traceEvents: Event[];
  };
  return { note: otherData.note, events: traceEvents };
}

describe('a trace', () => {
  it('has one process for the requests and one per engine', () => {
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

  it('has at most the given number of requests, and states it', () => {
    const { note, events } = traceOf(400, { requests: 25 });
    expect(note).toBe('the first 25 of 400 requests, the first 0 of the steps and leaps');
    const ids = events.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(Math.max(...ids)).toBe(24);
    const counted = (all: readonly Event[]): number => all.filter(({ ph }) => ph === 'C').length;
    expect(counted(events)).toBeLessThan(counted(traceOf(400).events));
  });

  it('of an empty run is valid too', () => {
    expect(traceOf(0).events.every(({ ph }) => ph === 'M' || ph === 'C')).toBe(true);
  });

  it('shows steps and leaps on their engine', () => {
    const at = { promptTokens: 0, generatedTokens: 64 };
    const steps = [
      { engine: 0, startUs: 0, endUs: 900, steps: 1, promptTokens: 512, generatedTokens: 0 },
      { engine: 1, startUs: 900, endUs: 4_900, steps: 4, ...at },
    ];
    const spans = traceOf(20, { steps }).events.filter(({ ph }) => ph === 'X');
    expect(spans).toMatchObject([
      { name: 'prefill', pid: 2, ts: 0, dur: 900 },
      { name: 'decode, 4 steps', pid: 3, ts: 900, dur: 4_000 },
    ]);
  });
});
