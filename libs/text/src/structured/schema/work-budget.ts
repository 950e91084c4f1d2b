import { spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';

/** Limits the work of one search to a fraction of a second for every schema. */
export class WorkBudget {
  constructor(private left: number) {}

  /** @param cost in values, approximately */
  spend(cost = 1): void {
    this.left -= cost;
    spendWork(cost);
    if (this.left < 0) {
      throw new ConstraintError('no value was found within the work limit of one schema', '');
    }
  }
}
