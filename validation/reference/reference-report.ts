import { operatorFiles } from '@baton/config';
import { type Quirk, QUIRKS } from './quirks';
import { type ComparedStep, compareReferenceSteps, ERROR_MAX } from './reference-steps';

const HEAD = [
  ...['steps', 'number', 'within 0.5 %', 'mean abs', 'worst', 'without a quirk'],
  ...['mean abs with quirks', 'quirks'],
];

const INTRODUCTION = [
  '## Steps that AIConfigurator composed from the same tables\n\n',
  'Steps composed from `data/operators`, and those that AIConfigurator 0.12 composed for vLLM ',
  '0.24, on A100 0.14 (`reference_steps.csv`, by operator in `reference_ops.csv`). The errors ',
  'show whether both read the tables alike, not whether the steps are right. Operators that a ',
  'quirk of the reference touches are left out of both sides of a step; the last but one column ',
  'has the mean error with them. The test `libs/step-time/src/composed/reference-steps.spec.ts` ',
  'holds each step within 0.5 % by the same comparison.',
].join('');

/** Tables of the composed steps beside AIConfigurator's, and the quirks that are not copied. */
export function referenceChapter(): string {
  const steps = compareReferenceSteps(operatorFiles().texts.read);
  const quirks = QUIRKS.map((quirk, i) => {
    const touched = steps.filter((step) => step.quirks.includes(quirk));
    return `${i + 1}. ${quirk.why}: ${touched.length} steps, without ${listed(quirk)}`;
  });
  return [
    INTRODUCTION,
    table([['all', steps], ...groupsOf(steps, ({ row }) => row['phase']!)]),
    'By system, model and number format:',
    table(groupsOf(steps, ({ row }) => `${row['system']} ${row['model']} ${row['dtype']}`)),
    'Quirks of the reference that are not copied:',
    quirks.join('\n'),
  ].join('\n\n');
}

type Group = readonly [name: string, steps: readonly ComparedStep[]];

function groupsOf(steps: readonly ComparedStep[], nameOf: (step: ComparedStep) => string): Group[] {
  const names = [...new Set(steps.map(nameOf))].sort();
  return names.map((name) => [name, steps.filter((step) => nameOf(step) === name)]);
}

function table(groups: readonly Group[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(HEAD), line(HEAD.map(() => '---')), ...groups.map((one) => line(rowOf(one)))].join(
    '\n',
  );
}

function rowOf([name, steps]: Group): string[] {
  const errors = steps.map(({ error }) => Math.abs(error));
  const touching = QUIRKS.flatMap((quirk, i) => {
    return steps.some(({ quirks }) => quirks.includes(quirk)) ? [String(i + 1)] : [];
  });
  return [
    ...[name, String(steps.length)],
    String(errors.filter((error) => error <= ERROR_MAX).length),
    ...[share(meanOf(errors)), share(Math.max(...errors))],
    String(steps.filter(({ quirks }) => quirks.length === 0).length),
    share(meanOf(steps.map(({ wholeError }) => Math.abs(wholeError)))),
    touching.join(', '),
  ];
}

function listed({ operators }: Quirk): string {
  return operators.map((name) => name.replaceAll('_', ' ')).join(', ');
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(error: number): string {
  return `${(100 * error).toFixed(2)} %`;
}
