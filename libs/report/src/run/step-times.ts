import type { OutsideStep, StepTimesSummary, Summary } from '@baton/analysis';
import { formatNumber } from '../format-number';
import type { ReportSection } from '../sections';

/** `composed from …; 12 steps of prefill engines outside of …`. Equal lines are one. */
export function stepTimesLines(stepTimes: readonly StepTimesSummary[]): string[] {
  return [...new Set(stepTimes.map((each) => `${each.description}${outside(each)}`))];
}

function outside({
  role,
  farthest_step: farthest,
  steps_outside_range: steps,
  steps_of_unmeasured_shape: unmeasured,
  farthest_outside: times,
}: StepTimesSummary): string {
  const measured = (steps ?? 0) - (unmeasured ?? 0);
  const far = times === null ? '' : `, up to ${formatNumber(times)} times the measured maximum`;
  const named = farthest === undefined || times === null ? '' : ` (${stepText(farthest)})`;
  const said = (count: number): string => `; ${formatNumber(count)} steps of ${role} engines`;
  return [
    ...(measured > 0 ? [`${said(measured)} outside of the measured range${far}${named}`] : []),
    ...(unmeasured ? [`${said(unmeasured)} have a shape that was not measured`] : []),
  ].join('');
}

const COLUMNS = [
  ...['engines', 'method', 'step times', 'steps outside the measured range'],
  ...['of these, of a shape that was not measured', 'farthest, times the measured maximum'],
  'what lay farthest outside',
];

/** The step times of each role, and how far steps left the measured range. */
export function stepTimesSections({
  step_times = [],
}: Pick<Summary, 'step_times'>): ReportSection[] {
  if (step_times.length === 0) return [];
  return [
    {
      kind: 'table',
      title: 'Step times',
      columns: COLUMNS.map((name) => ({ name })),
      rows: step_times.map((one) => [
        ...[one.role, one.method, one.description, one.steps_outside_range],
        ...[one.steps_of_unmeasured_shape, one.farthest_outside, farthestCell(one)],
      ]),
    },
  ];
}

function farthestCell({ farthest_step: farthest }: StepTimesSummary): string | null {
  return farthest === undefined ? null : stepText(farthest);
}

function stepText({ what, value, measured: [low, high] }: OutsideStep): string {
  const range = high === 0 ? 'none' : `${formatNumber(low)} to ${formatNumber(high)}`;
  return `${what}: ${formatNumber(value)}, measured: ${range}`;
}
