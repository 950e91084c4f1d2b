import { describe, expect, it } from 'vitest';
import { Turns, TurnsFull } from './turns';

/** A task that ends when its `end` is called. */
function task(): { readonly act: () => Promise<void>; readonly end: () => void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { act: () => ended, end };
}

describe('turns', () => {
  it('run as many tasks as allowed, and the others in the order in which they came', async () => {
    const turns = new Turns(2);
    const order: number[] = [];
    const tasks = Array.from({ length: 5 }, task);
    const all = tasks.map(({ act }, i) =>
      turns.take(() => {
        order.push(i);
        return act();
      }),
    );
    expect(order).toEqual([0, 1]);
    for (const { end } of tasks) end();
    await Promise.all(all);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuse a task when as many as allowed wait', async () => {
    const turns = new Turns(1, 1);
    const [first, second] = [task(), task()];
    const all = [turns.take(first.act), turns.take(second.act)];
    await expect(turns.take(second.act)).rejects.toThrow(TurnsFull);
    first.end();
    second.end();
    await Promise.all(all);
    await turns.take(() => Promise.resolve());
  });

  it('free the place of a waiter that gives up, and never start its task', async () => {
    const turns = new Turns(1, 1);
    const [first, second] = [task(), task()];
    const gone = new AbortController();
    let hasStarted = false;
    const running = turns.take(first.act);
    const waiting = turns.take(() => Promise.resolve((hasStarted = true)), gone.signal);
    gone.abort(new Error('the client has gone'));
    await expect(waiting).rejects.toThrow('the client has gone');
    const next = turns.take(second.act);
    first.end();
    second.end();
    await Promise.all([running, next]);
    expect(hasStarted).toBe(false);
  });
});
