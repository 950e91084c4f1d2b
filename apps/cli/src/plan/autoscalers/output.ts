import { sharesOf } from './shares';
import type { ScalingTrial } from './trial';

/** The document of `baton plan --autoscalers`. */
export interface ComparedAutoscalers {
  readonly workload: string;
  readonly model: string;
  readonly gpu: string;
  readonly slo: string;
  readonly slo_attainment_target: number;
  readonly min: string;
  readonly max: string;
  readonly seed: number;
  readonly simulations: number;
  readonly trials: readonly ScalingTrial[];
}

/** Most characters of a name, so that the table fits 100 columns. */
const MOST_NAME = 32;

/** A table of at most 100 columns, and a sentence on its cheapest row that keeps the SLO. */
export async function autoscalersConsole(document: ComparedAutoscalers): Promise<string> {
  const { consoleTable, formatMs, formatNumber, formatShare, usd, wrapWords } =
    await import('@baton/report');
  const { trials, slo, slo_attainment_target: target } = document;
  const isPriced = trials.some((trial) => trial.usd !== null);
  const names = [
    ...['autoscaler', 'in SLO', ...classesIn(trials), 'GPU-hours', ...(isPriced ? ['cost'] : [])],
    ...['GPUs', 'changes', 'short', 'spare', 'TTFT p90'],
  ];
  const columns = names.map((name, at) => {
    return { name, align: at === 0 ? ('left' as const) : ('right' as const) };
  });
  const rows = trials.map((trial) => [
    shortened(trial.autoscaler),
    formatShare(trial.slo_attainment),
    ...(trial.slo_classes ?? []).map((each) => formatShare(each.slo_attainment)),
    formatNumber(trial.gpu_hours),
    ...(trial.usd === null ? [] : [usd(trial.usd)]),
    formatNumber(trial.peak_gpus),
    formatNumber(trial.changes),
    formatNumber(trial.short_gpu_hours),
    formatNumber(trial.spare_gpu_hours),
    formatMs(trial.ttft_ms_p90),
  ]);
  const title =
    `Autoscalers for ${document.workload}: ${document.model}, ${document.gpu}, ` +
    `${document.min} to ${document.max}, ${slo}, seed ${document.seed}`;
  const ofEach = classesIn(trials).length === 0 ? '' : ', and the targets of each class';
  const passing = cheapestKept(trials, target);
  const verdict =
    passing === undefined
      ? `No autoscaler keeps ${slo} for ${formatShare(target)} of the requests${ofEach}.`
      : `The cheapest that keeps ${slo} for ${formatShare(target)} of the requests${ofEach}, ` +
        `oracles excluded: ${passing.autoscaler}.`;
  return `${wrapWords(title)}\n${consoleTable(columns, rows)}\n${wrapWords(verdict)}`;
}

function shortened(name: string): string {
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME - 1)}…`;
}

function cheapestKept(trials: readonly ScalingTrial[], target: number): ScalingTrial | undefined {
  const passing = trials.filter(
    (trial) =>
      !trial.autoscaler.startsWith('oracle') && sharesOf(trial).every((share) => share >= target),
  );
  return passing.sort((a, b) => (a.usd ?? a.gpu_hours) - (b.usd ?? b.gpu_hours))[0];
}

/** A column per figure, then one per SLO class with the share of its requests in the SLO. */
export function autoscalersCsv({ trials }: ComparedAutoscalers): string {
  const causes = [...new Set(trials.flatMap((trial) => Object.keys(startsOf(trial))))];
  const rows = trials.map((trial) => [
    ...Object.values(figuresOf(trial)).map((value) => value ?? ''),
    ...(trial.slo_classes ?? []).map((each) => each.slo_attainment ?? ''),
    ...causes.map((cause) => startsOf(trial)[cause] ?? 0),
  ]);
  const names = [
    ...Object.keys(figuresOf(trials[0]!)),
    ...classesIn(trials).map((name) => `in_slo_${name}`),
    ...causes.map((cause) => `startup_hours_${cause}`),
  ];
  return [names, ...rows].map((row) => `${row.join(',')}\n`).join('');
}

function figuresOf({ slo_classes: _classes, startup_engine_hours: _hours, ...rest }: ScalingTrial) {
  return rest;
}

function startsOf({
  startup_engine_hours: hours = {},
}: ScalingTrial): Record<string, number | null> {
  return hours;
}

function classesIn([first]: readonly ScalingTrial[]): string[] {
  return (first?.slo_classes ?? []).map(({ name }) => name);
}
