import { DEEPEST_US, unitUs } from '@baton/kernel';
import { type BudgetAnswer, budgetAnswer, type BudgetTake, type RateBudgets } from '../port/rates';
import type { Keys } from './keys';
import type { RedisLink } from './connection/link';
import { SETTLE_BUDGET, TAKE_BUDGETS } from './rates-scripts';

/** Budgets in Redis: one key each, gone when it is full. */
export class RedisRates implements RateBudgets {
  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
  ) {}

  async take(owner: string, takes: readonly BudgetTake[]): Promise<BudgetAnswer> {
    const keys = takes.map(({ budget }) => this.keys.budget(owner, budget));
    const amounts = takes.map(({ limit, amount }) => amount * unitUs(limit));
    const reply = (await this.link.ask('take from a budget', () =>
      this.link.scripts.run(TAKE_BUDGETS, keys, [DEEPEST_US, ...amounts]),
    )) as readonly (number | string)[];
    return budgetAnswer(reply[0] === 1, takes, reply.slice(1).map(Number));
  }

  async settle(owner: string, { budget, limit, amount }: BudgetTake): Promise<void> {
    const key = this.keys.budget(owner, budget);
    await this.link.call('settle a budget', () =>
      this.link.scripts.run(SETTLE_BUDGET, [key], [amount * unitUs(limit)]),
    );
  }
}
