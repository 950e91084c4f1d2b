import type { ChildMessage, SupervisorMessage } from '@baton/contract';

export type Order = Extract<ChildMessage, { readonly id: number }>;

type Reply = (answer: SupervisorMessage) => void;

/** Orders that have no answer yet, at most. A supervisor answers at once. */
const MOST_OPEN = 1_024;

/**
 * Passes the orders of several API processes to the supervisor and its answers back. Each process
 * numbers its orders by itself, so they get new numbers on the way.
 */
export class Orders {
  private passed = 0;
  private readonly open = new Map<number, { readonly id: number; readonly reply: Reply }>();

  constructor(private readonly send: (order: Order) => void) {}

  pass(order: Order, reply: Reply): void {
    this.passed += 1;
    this.open.set(this.passed, { id: order.id, reply });
    const [oldest] = this.open.keys();
    if (this.open.size > MOST_OPEN && oldest !== undefined) this.open.delete(oldest);
    this.send({ ...order, id: this.passed });
  }

  answer(message: SupervisorMessage): void {
    const order = this.open.get(message.id);
    this.open.delete(message.id);
    order?.reply({ ...message, id: order.id });
  }
}
