import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from './assert';
import { EventQueue } from './event-queue';

interface Event {
  timeUs: number;
  priority: number;
}

// Few distinct values, so that most runs contain ties.
const event: fc.Arbitrary<Event> = fc.record({
  timeUs: fc.integer({ min: 0, max: 5 }),
  priority: fc.integer({ min: 0, max: 2 }),
});

const byTimeThenPriority = (a: Event, b: Event) => a.timeUs - b.timeUs || a.priority - b.priority;

function drain(queue: EventQueue): number[] {
  const payloads: number[] = [];
  while (queue.size > 0) payloads.push(queue.pop());
  return payloads;
}

describe('EventQueue', () => {
  it('takes events out in the order of a stable sort by time and priority', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 300 }), (events) => {
        const queue = new EventQueue(1);
        events.forEach((e, i) => queue.push(e.timeUs, e.priority, i));
        const expected = events
          .map((e, i) => ({ ...e, i }))
          .sort(byTimeThenPriority)
          .map((e) => e.i);
        expect(drain(queue)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps that order when pushes and pops alternate', () => {
    fc.assert(
      fc.property(fc.array(fc.option(event), { maxLength: 200 }), (script) => {
        const queue = new EventQueue();
        const model: (Event & { i: number })[] = [];
        script.forEach((step, i) => {
          if (step) {
            queue.push(step.timeUs, step.priority, i);
            model.push({ ...step, i });
            model.sort((a, b) => byTimeThenPriority(a, b) || a.i - b.i);
          } else if (model.length > 0) {
            expect(queue.peekTimeUs()).toBe(model[0]!.timeUs);
            expect(queue.pop()).toBe(model.shift()!.i);
          }
          expect(queue.size).toBe(model.length);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('returns Infinity as the time of the next event when it is empty', () => {
    expect(new EventQueue().peekTimeUs()).toBe(Infinity);
  });

  it('refuses to pop from an empty queue, a time that is not a number, and a priority out of range', () => {
    const queue = new EventQueue();
    expect(() => queue.pop()).toThrow(InvariantError);
    expect(() => queue.push(NaN, 0, 0)).toThrow(InvariantError);
    expect(() => queue.push(0, 4096, 0)).toThrow(InvariantError);
  });
});
