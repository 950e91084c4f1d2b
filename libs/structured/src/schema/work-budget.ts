import { spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';

/** Bounds the work of one search, so that no schema takes longer than a fraction of a second. */
export class WorkBudget {
  constructor(private left: number) {}

  /** @param cost about how many values it is worth */
  spend(cost = 1): void {
    this.left -= cost;
    spendWork(cost);
    if (this.left < 0) {
      throw new ConstraintError('no value was found within the work that a schema may cost', '');
    }
  }
}
