import type { SupervisorMessage } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { type Order, Orders } from './orders';

describe('orders of several API processes to one supervisor', () => {
  it('get numbers of their own, and their answers come back under the old ones', () => {
    const passed: Order[] = [];
    const orders = new Orders((order) => passed.push(order));
    const answers: (readonly [from: string, answer: SupervisorMessage])[] = [];
    for (const from of ['a', 'b']) {
      const order = { kind: 'start-engines', id: 1, role: 'decode', count: 1 } as const;
      orders.pass(order, (answer) => answers.push([from, answer]));
    }
    expect(passed.map(({ id }) => id)).toEqual([1, 2]);
    orders.answer({ kind: 'engines-started', id: 2, refusal: 'No room.' });
    orders.answer({ kind: 'engines-started', id: 1 });
    orders.answer({ kind: 'engines-started', id: 9 });
    expect(answers).toEqual([
      ['b', { kind: 'engines-started', id: 1, refusal: 'No room.' }],
      ['a', { kind: 'engines-started', id: 1 }],
    ]);
  });
});
