import type { Assumption } from './assumption';
import { AS_CONFIGURED } from './assumption';
import type { PlanTask, TaskResult } from './plan-task';
import type { Candidate } from './candidates';
import { type Contenders, type Kind, KINDS, type SensitivityRow } from './split-result';

export interface SensitivityPlan {
  readonly assumptions: readonly Assumption[];
  /** Whether a split differs under an assumption, and can be built so. */
  readonly canAssume: (assumption: Assumption, split: Candidate) => boolean;
  /** The task that searches the highest rate of a contender under an assumption. */
  readonly taskOf: (kind: Kind, assumption: Assumption) => PlanTask;
  /** Results in the order of the tasks. Undefined: the time is over. */
  readonly run: (tasks: readonly PlanTask[]) => Promise<readonly (TaskResult | undefined)[]>;
}

/** The contenders as configured, then under each assumption whose tasks were all done. */
export async function measureSensitivity(
  contenders: Contenders,
  { assumptions, canAssume, taskOf, run }: SensitivityPlan,
): Promise<SensitivityRow[]> {
  const cells = assumptions.flatMap((assumption) => {
    const kinds = KINDS.filter((kind) => {
      const split = contenders[kind]?.split;
      return split !== undefined && canAssume(assumption, split);
    });
    return kinds.map((kind) => ({ assumption, kind, task: taskOf(kind, assumption) }));
  });
  const results = await run(cells.map(({ task }) => task));
  const configured = rowOf(AS_CONFIGURED, (kind) => contenders[kind]?.measured);
  const rows = assumptions.flatMap((assumption) => {
    const own = cells.flatMap((cell, i) => {
      return cell.assumption === assumption ? [{ ...cell, result: results[i] }] : [];
    });
    if (own.length === 0 || own.some(({ result }) => result === undefined)) return [];
    const row = rowOf(assumption, (kind) => own.find((cell) => cell.kind === kind)?.result);
    // A link does nothing for aggregated engines. Other rows have no value where they do not apply.
    if (assumption.linkFactor === undefined) return [row];
    const goodput = { ...configured.goodput, ...withoutUnset(row.goodput) };
    return [{ ...row, goodput }];
  });
  return [configured, ...rows];
}

function rowOf(
  assumption: Assumption,
  resultOf: (kind: Kind) => TaskResult | undefined,
): SensitivityRow {
  const each = <T>(read: (result: TaskResult) => T): Record<Kind, T | undefined> => {
    const [disaggregated, aggregated] = [resultOf('disaggregated'), resultOf('aggregated')];
    return {
      disaggregated: disaggregated && read(disaggregated),
      aggregated: aggregated && read(aggregated),
    };
  };
  return {
    assumption,
    goodput: each(({ completedRate }) => completedRate),
    usdPerMillionTokens: each(
      ({ figures }) => figures?.cost?.usd_per_million_output_tokens ?? undefined,
    ),
    outside: each(({ outside }) => outside),
  };
}

function withoutUnset(goodput: SensitivityRow['goodput']): Partial<SensitivityRow['goodput']> {
  return Object.fromEntries(Object.entries(goodput).filter(([, value]) => value !== undefined));
}
