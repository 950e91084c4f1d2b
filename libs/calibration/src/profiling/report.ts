import type { Calibration } from '../fits/calibrate';
import type { Estimate, Factors } from '../fits/factor-fit';
import type { FitQuality } from '../fits/fit-quality';
import type { KvTransferFit } from '../fits/kv-transfer-fit';
import { wrapWords } from '@baton/report';
import type { ValidRange } from '@baton/step-time';
import type { CalibrationRequest } from './request';
import type { ReadInput } from '../formats/measured';

/** The source of points: a file of a format, or a server. */
export type Source = Pick<ReadInput, 'steps'> &
  Partial<Pick<ReadInput, 'file'>> & { readonly format: string };

export interface Result {
  readonly request: CalibrationRequest;
  readonly inputs: readonly Source[];
  readonly calibration: Calibration;
  readonly transfer: KvTransferFit | undefined;
  /** Time of a request outside of the engine, ms, if it was measured beside the steps. */
  readonly requestMs?: number;
  /** The reason for the form of the fit, if no flag chose it. */
  readonly whyFit?: string;
}

/** The result as text. */
export function reportText(result: Result): string {
  const { request, inputs, calibration, transfer } = result;
  const { options, out } = request;
  const points = inputs.reduce((sum, { steps }) => sum + steps.length, 0);
  const sources = inputs.map(
    ({ format, steps }, i) => `${request.inputs[i]!} (${format}, ${steps.length})`,
  );
  return [
    `${options.fit} model, ${points} points of ${sources.join(', ')}`,
    ...(result.whyFit === undefined ? [] : [wrapWords(`Default fit: ${result.whyFit}`).trimEnd()]),
    '',
    table('fitted to', calibration.fitted),
    ...(calibration.heldOut.length > 0
      ? [
          table(
            `held out (every ${ordinal(options.holdOutEvery)}, seed ${options.seed})`,
            calibration.heldOut,
          ),
        ]
      : ['held out: no points\n']),
    ...factorLines(calibration.factors),
    ...intervalLines(calibration, options.fit),
    `valid for  ${rangeLines(calibration.valid).join('\n           ')}`,
    ...(transfer
      ? [
          `\nKV transfers: --kv-cache-transfer-latency ${transfer.latencyMs}ms ` +
            `--kv-cache-transfer-time-per-token ${transfer.perTokenMs}ms`,
        ]
      : []),
    '',
    out === undefined
      ? '--out FILE writes the profile.'
      : `wrote ${out}: use it with ${useOf(options.fit)} --step-time-file ${out}`,
    '',
  ].join('\n');
}

/** The result as JSON. */
export function reportJson(result: Result): string {
  return `${JSON.stringify(reportDocument(result), null, 2)}\n`;
}

export function reportDocument(result: Result): object {
  const { request, inputs, calibration, transfer, whyFit } = result;
  const { fit, holdOutEvery, seed } = request.options;
  return {
    fit,
    ...(whyFit === undefined ? {} : { fit_reason: whyFit }),
    inputs: inputs.map(({ format, steps }, i) => ({
      file: request.inputs[i],
      format,
      points: steps.length,
    })),
    hold_out: { every: holdOutEvery, seed },
    fitted: calibration.fitted.map(qualityEntry),
    held_out: calibration.heldOut.map(qualityEntry),
    ...(calibration.factors && { factors: calibration.factors }),
    profile: calibration.file,
    ...(transfer
      ? { kv_transfer: { latency_ms: transfer.latencyMs, per_token_ms: transfer.perTokenMs } }
      : {}),
    ...(request.out === undefined ? {} : { out: request.out }),
  };
}

/** The quality by the names of results and profiles. */
export function qualityEntry(quality: FitQuality): Readonly<Record<string, unknown>> {
  return {
    phase: quality.phase,
    points: quality.points,
    r2: quality.r2,
    mean_error_percent: quality.meanErrorPercent,
    max_error_percent: quality.maxErrorPercent,
  };
}

function useOf(fit: CalibrationRequest['options']['fit']): string {
  return `--step-time ${fit === 'factors' ? 'auto' : fit}`;
}

function factorLines(factors: Factors | undefined): string[] {
  if (factors === undefined) return [];
  const text = ({ value, standardError: error }: Estimate, unit = '') =>
    error === null
      ? `${value}${unit} (not measured)`
      : `${Number(value.toPrecision(4))} ± ${Number(error.toPrecision(2))}${unit}`;
  return [
    'over composed steps, ± one standard error',
    `  prefill × ${text(factors.prefill)}`,
    `  decode × ${text(factors.decode)}`,
    `  per step + ${text(factors.constantMs, ' ms')}\n`,
  ];
}

/** The error of steps that runs with the profile assume. */
function intervalLines(
  { heldOutFactors }: Calibration,
  fit: CalibrationRequest['options']['fit'],
): string[] {
  if (fit === 'polynomial') return [];
  const ends = (['prefill', 'decode'] as const).flatMap((phase) => {
    const own = heldOutFactors[phase];
    return own === undefined ? [] : [`${phase} × ${own.low} to ${own.high}`];
  });
  return ends.length === 0 ? [] : [`80 % of held-out steps  ${ends.join(', ')}\n`];
}

const COLUMNS = ['points', 'R²', 'mean error', 'largest error'];
const WIDTH = 14;

function table(title: string, qualities: readonly FitQuality[]): string {
  const rows = qualities.map((quality) => [
    `  ${quality.phase}`,
    String(quality.points),
    quality.r2.toFixed(4),
    `${quality.meanErrorPercent.toFixed(2)} %`,
    `${quality.maxErrorPercent.toFixed(2)} %`,
  ]);
  return [[title, ...COLUMNS], ...rows].map(aligned).join('\n') + '\n';
}

function aligned([first = '', ...others]: readonly string[]): string {
  return first.padEnd(34) + others.map((cell) => cell.padStart(WIDTH)).join('');
}

function rangeLines(valid: ValidRange): string[] {
  const format = (value: number) => Number(value.toPrecision(6)).toLocaleString('en-US');
  const range = (what: string, given: readonly [number, number] | undefined) => {
    if (given === undefined) return [];
    const isMeasured = given[1] > 0;
    return [
      isMeasured ? `${what} ${format(given[0])} to ${format(given[1])}` : `${what}: none measured`,
    ];
  };
  const most = (what: string, given: number | undefined) =>
    given === undefined || given === 0 ? [] : [`${what} up to ${format(given)}`];
  return [
    ...range('tokens per step', valid.stepTokens),
    ...range('prompt tokens per step', valid.prefillTokens),
    ...most('attention of prompts, Σ((p+n)² − p²),', valid.prefillQuadraticMax),
    ...range('decoding sequences', valid.decodeSeqs),
    ...most('context tokens of a decode step', valid.decodeContextMax),
    ...most('context tokens per sequence', valid.meanContextMax),
  ];
}

function ordinal(n: number): string {
  const suffix = { 1: 'st', 2: 'nd', 3: 'rd' }[n % 10];
  const isTeen = n % 100 > 10 && n % 100 < 14;
  return `${n}${suffix === undefined || isTeen ? 'th' : suffix}`;
}
