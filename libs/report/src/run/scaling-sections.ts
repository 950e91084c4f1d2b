import type { EngineRoleName, Summary } from '@baton/analysis';
import type { LineChartSection, ReportSection } from '../sections';

/** Most changes on the page; the JSON has all. */
const MOST_CHANGES = 500;

type Scaling = NonNullable<Summary['autoscaling']>;

/** Supply and demand of each role over time, and the changes. Empty without an autoscaler. */
export function scalingSections({ autoscaling }: Summary): ReportSection[] {
  if (autoscaling === undefined) return [];
  const roles = Object.keys(autoscaling.roles) as EngineRoleName[];
  return [...roles.map((role) => supplyChart(role, autoscaling)), changeTable(autoscaling)];
}

function supplyChart(role: EngineRoleName, { over_time }: Scaling): LineChartSection {
  const { ready, changing, demand } = over_time.roles[role]!;
  const values = (series: readonly number[]): number[] => [...series];
  return {
    kind: 'lineChart',
    title: `Engines, ${role}: supply and demand`,
    width: 'half',
    x: { label: 'simulated seconds' },
    y: { label: 'engines' },
    xs: ready.map((_engines, point) => (point + 0.5) * (over_time.interval_seconds ?? 0)),
    series: [
      { name: 'ready', values: values(ready), tone: role },
      { name: 'starting or draining', values: values(changing), tone: 'wait' },
      { name: 'demand', values: values(demand), tone: 'queue' },
    ],
  };
}

function changeTable({ events, autoscaler }: Scaling): ReportSection {
  return {
    kind: 'table',
    title: `Changes by ${autoscaler}`,
    columns: [{ name: 'simulated seconds' }, { name: 'change' }],
    rows: events.slice(0, MOST_CHANGES).map(({ at_seconds, change }) => [at_seconds, change]),
  };
}
