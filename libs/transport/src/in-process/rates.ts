import { DEEPEST_US, unitUs } from '@baton/kernel';
import { type BudgetAnswer, budgetAnswer, type BudgetTake, type RateBudgets } from '../port/rates';
import type { InProcessHub } from './hub';

/** Budgets in the hub's memory, by its clock. */
export class MemoryRates implements RateBudgets {
  constructor(private readonly hub: InProcessHub) {}

  take(owner: string, takes: readonly BudgetTake[]): Promise<BudgetAnswer> {
    return this.hub.call('take from a budget', () => {
      const before = takes.map((take) => this.debtUs(owner, take));
      const after = takes.map(({ limit, amount }, i) => (before[i] ?? 0) + amount * unitUs(limit));
      const isTaken = after.every((debt) => debt <= DEEPEST_US);
      if (isTaken) takes.forEach((take, i) => this.write(owner, take, after[i] ?? 0));
      return budgetAnswer(isTaken, takes, isTaken ? after : before);
    });
  }

  settle(owner: string, take: BudgetTake): Promise<void> {
    return this.hub.call('settle a budget', () => {
      const debt = this.debtUs(owner, take) + take.amount * unitUs(take.limit);
      this.write(owner, take, debt);
    });
  }

  private debtUs(owner: string, { budget }: BudgetTake): number {
    const fullUs = this.hub.budgets.get(keyOf(owner, budget)) ?? 0;
    return Math.max(0, fullUs - performance.now() * 1_000);
  }

  private write(owner: string, { budget }: BudgetTake, debtUs: number): void {
    const key = keyOf(owner, budget);
    if (debtUs <= 0) this.hub.budgets.delete(key);
    else this.hub.budgets.set(key, performance.now() * 1_000 + debtUs, debtUs / 1_000);
  }
}

function keyOf(owner: string, budget: string): string {
  return `${owner}:${budget}`;
}
