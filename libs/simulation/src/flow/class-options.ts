import type { ClassOptions } from '@baton/analysis';
import type { ClusterScenario } from '../scenario';

/** The SLO classes of a run for its summary; undefined when it has none. */
export function classOptions({ sloClasses }: ClusterScenario): ClassOptions | undefined {
  if (sloClasses === undefined) return undefined;
  const classes = sloClasses.all.map(({ name, ttftUs, tpotUs }) => ({
    name,
    slo: { ...(ttftUs && { ttft: ttftUs }), ...(tpotUs && { tpot: tpotUs }) },
  }));
  return { classes, classOf: (row) => sloClasses.of(row).name };
}
