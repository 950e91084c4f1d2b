import { TOLERANCE, type PlanTask, type TaskResult } from './plan-task';

/** A design, such as a split or a fleet, with its result. */
export interface Measured<D> {
  readonly design: D;
  readonly result: TaskResult;
}

export interface TuningPlan<D> {
  /** The designs that differ in one setting, or in settings that must change together. */
  readonly movesOf: (design: D) => readonly D[];
  readonly nameOf: (design: D) => string;
  readonly taskOf: (design: D, rate: number) => PlanTask;
  /** Results in the order of the tasks. Undefined: the time is over. */
  readonly run: (tasks: readonly PlanTask[]) => Promise<readonly (TaskResult | undefined)[]>;
  readonly mostPasses: number;
}

/**
 * Coordinate ascent: each design takes the move that raises its goodput most, until no move raises
 * it by more than the tolerance of the search. A move that does not keep the target a tolerance
 * above the design's own rate costs one simulation, which ends at the request that decides it. All
 * designs move in the same pass, so that the tasks of a pass can run side by side. A design that
 * keeps the target at no rate stays as it is. Returns the designs in their order.
 */
export async function tune<D>(
  starts: readonly Measured<D>[],
  { movesOf, nameOf, taskOf, run, mostPasses }: TuningPlan<D>,
): Promise<Measured<D>[]> {
  const tried = new Set(starts.map(({ design }) => nameOf(design)));
  let all = [...starts];
  const open = new Set([...starts.keys()].filter((at) => starts[at]!.result.rate > 0));
  for (let pass = 0; pass < mostPasses && open.size > 0; pass++) {
    const trials = [...open].flatMap((at) => {
      return movesOf(all[at]!.design).flatMap((design) => {
        if (tried.has(nameOf(design))) return [];
        tried.add(nameOf(design));
        return [{ at, design }];
      });
    });
    const results = await run(
      trials.map(({ at, design }) => taskOf(design, all[at]!.result.rate * (1 + TOLERANCE))),
    );
    const before = all;
    all = before.map((one, at) => {
      return trials.reduce<Measured<D>>((best, trial, i) => {
        const result = trial.at === at ? results[i] : undefined;
        // A move must beat the design that it leaves by the tolerance, and other moves by anything.
        const margin = best === one ? 1 + TOLERANCE : 1;
        if (result === undefined || result.completedRate <= best.result.completedRate * margin) {
          return best;
        }
        return { design: trial.design, result };
      }, one);
    });
    for (const at of [...open]) if (all[at] === before[at]) open.delete(at);
  }
  return all;
}
