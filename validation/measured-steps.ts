import { type MeasuredStep, parseStepLogLine } from '@baton/calibration';
import { operatorFiles } from '@baton/config';
import { findGpu, findModel, type PrecisionRequest, servedIn } from '@baton/hardware';
import { median } from '@baton/kernel';
import { buildStepTimeModel, type StepTimeModel } from '@baton/step-time';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DATA, readZippedLines } from './files';
import { percent } from './serving/scoreboard';

const FOLDER = ['measured', 'pytorch-hopper'];

/** By the end of a log's name. The cache was in BF16 in all of them. */
const FORMATS: Readonly<Record<string, PrecisionRequest>> = {
  bf16: {},
  fp8: { quantization: 'fp8', kvCacheDtype: 'bfloat16' },
};

/** Steps of one model on one GPU: measured, and composed without an overhead. */
interface ComparedBatch {
  readonly step: MeasuredStep;
  /** Median of the measured durations in ms. */
  readonly measuredMs: number;
  readonly composedMs: number;
}

/**
 * A table of composed steps beside steps of a PyTorch engine that `python -m baton.measure` took
 * on our own H100 and H200. Nothing is fitted to them.
 */
export function measuredSteps(): string {
  const rows = readdirSync(join(DATA, ...FOLDER), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: gpu }) => logsOf(gpu).flatMap((file) => rowsOf(gpu, file)));
  const head = ['steps', 'batches', 'median error', 'mean abs', 'worst'];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function logsOf(gpu: string): string[] {
  return readdirSync(join(DATA, ...FOLDER, gpu)).filter((file) => file.endsWith('.jsonl.gz'));
}

function rowsOf(gpu: string, file: string): string[][] {
  const [, name = '', format = ''] = /^(.+)\.(\w+)\.jsonl\.gz$/.exec(file) ?? [];
  const composed = composedModel(gpu, name, format);
  const compared = batchesOf(gpu, file).map((steps) => compare(steps, composed));
  return ['decode', 'prefill', 'mixed'].map((kind) =>
    row(
      `${gpu}, ${name} ${format}, ${kind}`,
      compared.filter(({ step }) => kindOf(step) === kind),
    ),
  );
}

function composedModel(gpu: string, name: string, format: string): StepTimeModel {
  const card = findGpu(gpu);
  const model = servedIn(findModel(name), card, FORMATS[format]!);
  const placement = { model, gpu: card, tp: 1 };
  return buildStepTimeModel({ kind: 'composed', overheadMs: 0 }, placement, operatorFiles());
}

/** Measurements of the same batch together. */
function batchesOf(gpu: string, file: string): MeasuredStep[][] {
  const batches = new Map<string, MeasuredStep[]>();
  for (const line of readZippedLines(...FOLDER, gpu, file)) {
    const step = parseStepLogLine(line);
    const key = JSON.stringify({ ...step, ms: 0 });
    batches.set(key, [...(batches.get(key) ?? []), step]);
  }
  return [...batches.values()];
}

function kindOf({ prefillTokens, decodeSeqs }: MeasuredStep): string {
  if (prefillTokens === 0) return 'decode';
  return decodeSeqs === 0 ? 'prefill' : 'mixed';
}

function compare(steps: readonly MeasuredStep[], composed: StepTimeModel): ComparedBatch {
  const step = steps[0]!;
  const composedMs = composed.stepUs({ ...step, kvUsage: 0 }) / 1000;
  return { step, measuredMs: median(steps.map(({ ms }) => ms)), composedMs };
}

function row(what: string, compared: readonly ComparedBatch[]): string[] {
  const errors = compared.map((one) => (100 * (one.composedMs - one.measuredMs)) / one.measuredMs);
  const worst = errors.reduce((far, one) => (Math.abs(one) > Math.abs(far) ? one : far), 0);
  const meanAbs = errors.reduce((sum, one) => sum + Math.abs(one), 0) / errors.length;
  return [
    what,
    String(errors.length),
    percent(median(errors)),
    `${meanAbs.toFixed(1)} %`,
    percent(worst),
  ];
}
