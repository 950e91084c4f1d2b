import type { EngineRoleName, Summary } from '@baton/analysis';
import type { GanttSection, LineChartSection, ReportSection, Tone } from '../sections';

/** Most changes on the page; the JSON has all. */
const MOST_CHANGES = 500;
const MS_PER_SECOND = 1_000;
/** Starts that the page draws. */
const MOST_STARTS = 200;

const CAUSE_TONES: Readonly<Record<string, Tone>> = {
  'image-pull': 'queue',
  weights: 'prefill',
  'weights-from-peer': 'transfer',
  'warm-up': 'decode',
  cache: 'hold',
};

type Scaling = NonNullable<Summary['autoscaling']>;

/** Supply and demand of each role over time, and the changes. Empty without an autoscaler. */
export function scalingSections({ autoscaling }: Summary): ReportSection[] {
  if (autoscaling === undefined) return [];
  const roles = Object.keys(autoscaling.roles) as EngineRoleName[];
  return [
    ...roles.map((role) => supplyChart(role, autoscaling)),
    changeTable(autoscaling),
    ...startTimeline(autoscaling),
  ];
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

/** The timeline of engine starts: each engine's loading phases. */
function startTimeline({ startups }: Scaling): GanttSection[] {
  if (startups === undefined) return [];
  const { starts, engine_hours, each } = startups;
  const causes = Object.keys(engine_hours);
  return [
    {
      kind: 'gantt',
      title: 'Starts of engines by cause',
      note: `The first ${Math.min(MOST_STARTS, starts)} of ${starts}.`,
      phases: causes.map((name) => ({ name, tone: CAUSE_TONES[name] ?? 'wait' })),
      rows: each.slice(0, MOST_STARTS).map(({ at_seconds, role, engine, seconds }) => ({
        label: `${role}-${engine}`,
        startMs: at_seconds * MS_PER_SECOND,
        spansMs: causes.map((cause) =>
          seconds[cause] === undefined ? null : seconds[cause] * MS_PER_SECOND,
        ),
        detail: causes
          .filter((cause) => seconds[cause] !== undefined)
          .map((cause) => `${cause} ${seconds[cause]} s`)
          .join(', '),
      })),
    },
  ];
}

function changeTable({ events, autoscaler }: Scaling): ReportSection {
  return {
    kind: 'table',
    title: `Changes by ${autoscaler}`,
    columns: [{ name: 'simulated seconds' }, { name: 'change' }],
    rows: events.slice(0, MOST_CHANGES).map(({ at_seconds, change }) => [at_seconds, change]),
  };
}
