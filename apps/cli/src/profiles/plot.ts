import { mean } from '@baton/kernel';
import { type MeasuredStep, phaseOf, readInput } from '@baton/calibration';
import { UsageError } from '@baton/config';
import { chartSvg, htmlReport, type LineChartSection } from '@baton/report';
import type { ProfileFlags } from './command';
import { sourceText } from './own-profile';
import type { Surface } from './surface';

const SEQUENCES = [1, 8, 32, 128, 256];
/** Most lines of one chart. */
const LINES_MAX = 6;
const SHORTEST = 16;
const PER_OCTAVE = 4;
const PROMPT_MAX = 16_384;
const BATCHED_TOKENS = 8_192;
const TOKENS = { label: 'tokens', scale: 'log' } as const;
const STEP = { label: 'time of a step', unit: 'ms', scale: 'log' } as const;

/** The page or the image. `load` is for callers that cannot import modules dynamically. */
export async function plotted(
  surface: Surface,
  flags: ProfileFlags & { readonly out: string },
  load?: Parameters<typeof chartSvg>[1],
): Promise<string> {
  const steps = pointsOf(flags);
  const charts = { decode: decodeChart(surface, steps), prefill: prefillChart(surface, steps) };
  if (flags.out.endsWith('.svg')) return chartSvg(charts[chartName(flags.chart)], load);
  const { profile, model } = surface;
  const source = profile === undefined ? '' : `; ${sourceText(profile)}`;
  return htmlReport({
    title: 'Step times',
    subtitle: `${model.description}${source}`,
    sections: [charts.decode, charts.prefill],
  });
}

function chartName(given = 'decode'): 'decode' | 'prefill' {
  if (given === 'decode' || given === 'prefill') return given;
  throw new UsageError(`--chart must be decode or prefill; '${given}' is neither.`);
}

function pointsOf({ points = [], model, gpu, tp }: ProfileFlags): MeasuredStep[] {
  const place = { model, gpu, tp: tp === undefined ? undefined : Number(tp) };
  return points.flatMap(
    (path) => readInput(path, undefined, { ...place, maxNumBatchedTokens: BATCHED_TOKENS }).steps,
  );
}

/**
 * One line per number of sequences, over the mean context; with measured steps, for the measured
 * numbers.
 */
function decodeChart(surface: Surface, steps: readonly MeasuredStep[]): LineChartSection {
  const own = steps.filter((step) => phaseOf(step) === 'decode');
  const sequences = own.length === 0 ? SEQUENCES : spread(own.map((step) => step.decodeSeqs));
  const contextOf = (step: MeasuredStep): number => step.decodeContext / step.decodeSeqs;
  const xs = rising([...octaves(surface.contextMax), ...own.map(contextOf)]);
  const lines = sequences.map((count) => ({
    ...({ name: `${count} sequences`, tone: 'decode', style: 'line' } as const),
    values: xs.map((context) => surface.decodeMs(count, context)),
  }));
  const points = sequences.flatMap((count) => {
    const shown = own.filter((step) => step.decodeSeqs === count);
    const values = pointsAt(xs, shown, contextOf);
    const name = `${count} sequences, measured`;
    return shown.length === 0 ? [] : [{ name, values, tone: 'hold', style: 'points' } as const];
  });
  const note = 'Steps that only decode, over the mean context of their sequences.';
  return chart('Decode', note, { xs, series: [...lines, ...points] });
}

function prefillChart(surface: Surface, steps: readonly MeasuredStep[]): LineChartSection {
  const own = steps.filter((step) => phaseOf(step) === 'prefill' && step.prefillSeqs === 1);
  const tokensOf = (step: MeasuredStep): number => step.prefillTokens;
  const longest = Math.min(PROMPT_MAX, surface.contextMax);
  const xs = rising([...octaves(longest), ...own.map(tokensOf)]);
  const line = { name: 'one prompt', tone: 'prefill', style: 'line' } as const;
  const values = pointsAt(xs, own, tokensOf);
  const points = { name: 'measured', values, tone: 'hold', style: 'points' } as const;
  const series = [{ ...line, values: xs.map(surface.prefillMs) }];
  const note = 'Steps of one prompt alone, over its tokens.';
  return chart('Prefill', note, { xs, series: own.length === 0 ? series : [...series, points] });
}

function chart(
  title: string,
  note: string,
  content: Pick<LineChartSection, 'xs' | 'series'>,
): LineChartSection {
  return { kind: 'lineChart', title, note, x: TOKENS, y: STEP, ...content };
}

/** The mean of the points at each x. */
function pointsAt(
  xs: readonly number[],
  steps: readonly MeasuredStep[],
  xOf: (step: MeasuredStep) => number,
): (number | null)[] {
  return xs.map((x) => {
    const own = steps.filter((step) => xOf(step) === x);
    return own.length === 0 ? null : mean(own.map(({ ms }) => ms));
  });
}

function octaves(max: number): number[] {
  const count = Math.floor(Math.log2(max / SHORTEST) * PER_OCTAVE);
  return Array.from({ length: count + 1 }, (_, i) => Math.round(SHORTEST * 2 ** (i / PER_OCTAVE)));
}

function rising(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** At most `LINES_MAX` different values, evenly spread over their order. */
function spread(values: readonly number[]): number[] {
  const all = rising(values);
  if (all.length <= LINES_MAX) return all;
  const at = (i: number): number => Math.round((i * (all.length - 1)) / (LINES_MAX - 1));
  return Array.from({ length: LINES_MAX }, (_, i) => all[at(i)]!);
}
