import { fileName } from '@baton/config';
import { formatNumber, formatShare } from '@baton/report';
import { type Candidate, isAggregated } from '../candidates/candidates';
import { TOLERANCE } from '../candidates/plan-task';
import {
  type Contenders,
  goodputOf,
  type Kind,
  type PlanResult,
  type SettingRow,
  type SplitResult,
} from '../candidates/split-result';
import { apartFactor, isToldApart } from '../candidates/told-apart';
import { compareWindows, type PairedComparison } from '../candidates/windows';

/**
 * How firm the answer is. `firm`: the winner is better than the best split of the other kind, on
 * the whole workload and in most of its windows. `alike`: the two cannot be told apart. `untested`:
 * there are no windows of both, because the workload is short or the time was over. `alone`: no
 * split of the other kind keeps the target.
 */
export type Confidence = 'firm' | 'alike' | 'untested' | 'alone';

export interface Verdict {
  readonly confidence: Confidence;
  /** The conclusion in a few words. */
  readonly headline: string;
  /** The numbers behind it, as sentences. */
  readonly reasons: string;
}

/** The winner and its lead over the other kind. */
export function verdict(result: PlanResult): Verdict {
  const { winner, contenders } = result;
  const other: Kind = isAggregated(winner.split) ? 'disaggregated' : 'aggregated';
  const rival = contenders[other];
  const lead = `${named(winner)} sustains ${formatNumber(goodputOf(winner))} requests/s`;
  if (rival === undefined || goodputOf(rival) === 0) {
    const why =
      rival === undefined
        ? `there is no ${other} split to compare it with`
        : `at no rate does ${other === 'aggregated' ? 'an' : 'a'} ${other} split meet the target`;
    const headline = `${winner.name} is the best split`;
    return { confidence: 'alone', headline, reasons: `${lead}; ${why}.` };
  }
  const confidence = confidenceOf(winner, rival);
  return {
    confidence,
    headline: headlineOf(confidence, winner, rival),
    reasons: [
      comparisonOf(winner, rival, confidence),
      ...(confidence === 'firm' && isAggregated(winner.split) ? [NO_THROUGHPUT] : []),
      ...defaultsOf(result.atDefaults, contenders),
      ...decisiveOf(result.settings, contenders),
    ].join(' '),
  };
}

/** vLLM, docs/features/disagg_prefill.md: disaggregated prefill "does not improve throughput". */
const NO_THROUGHPUT =
  'Disaggregation lets you tune TTFT and TPOT separately and shortens the tail of ITL; ' +
  'it does not add throughput.';

function named({ name, split }: { readonly name: string; readonly split: Candidate }): string {
  return `${name} (${isAggregated(split) ? 'aggregated' : 'disaggregated'})`;
}

function confidenceOf(winner: SplitResult, rival: SplitResult): Confidence {
  if (!isToldApart(winner, rival)) return 'alike';
  return pairedWith(winner, rival) === undefined ? 'untested' : 'firm';
}

/** The windows of both, if both were tried in them. */
export function pairedWith(one: SplitResult, other: SplitResult): PairedComparison | undefined {
  return one.windows && other.windows && compareWindows(one.windows, other.windows);
}

function headlineOf(confidence: Confidence, winner: SplitResult, rival: SplitResult): string {
  if (confidence === 'alike') return `${winner.name} and ${rival.name} cannot be told apart`;
  const better = `${winner.name} is better than ${rival.name}`;
  return confidence === 'firm' ? better : `${better} in this one sample`;
}

function comparisonOf(winner: SplitResult, rival: SplitResult, confidence: Confidence): string {
  const [more, less] = [goodputOf(winner), goodputOf(rival)];
  const margin = more / less - 1;
  const ahead =
    margin <= TOLERANCE
      ? `${named(winner)} sustains ${formatNumber(more)} requests/s and ${named(rival)} ` +
        `${formatNumber(less)}; the search cannot distinguish the two.`
      : `${named(winner)} sustains ${formatNumber(more)} requests/s, ${formatShare(margin)} more ` +
        `than ${named(rival)} with ${formatNumber(less)}.`;
  const paired = pairedWith(winner, rival);
  const windows =
    paired === undefined
      ? 'Neither was compared in other windows of the load.'
      : `It is better in ${paired.wins} of ${paired.windows} windows of the load and worse in ` +
        `${paired.losses}.`;
  const needed = apartFactor(winner, rival);
  const error =
    confidence === 'alike' && margin > TOLERANCE && more <= less * needed
      ? ` Differences below ${formatShare(needed - 1)} are within the error of the step times.`
      : '';
  return `${ahead} ${windows}${error}`;
}

/** What both kinds reach with the settings of the configuration. */
function defaultsOf(atDefaults: Contenders, contenders: Contenders): string[] {
  const { aggregated, disaggregated } = atDefaults;
  const isTuned = [contenders.aggregated, contenders.disaggregated].some((one) => {
    return one !== undefined && Object.keys(one.split.settings).length > 0;
  });
  if (!isTuned || aggregated === undefined || disaggregated === undefined) return [];
  return [
    `With the settings as configured, ${aggregated.name} sustains ` +
      `${formatNumber(goodputOf(aggregated))} and ${disaggregated.name} ` +
      `${formatNumber(goodputOf(disaggregated))} requests/s.`,
  ];
}

/** The setting that decides most: without it the contender loses the largest share. */
function decisiveOf(rows: readonly SettingRow[], contenders: Contenders): string[] {
  const losses = rows.flatMap((row) => {
    if (row.change !== 'default') return [];
    const own = contenders[row.kind]!;
    return [{ row, own, loss: 1 - row.goodput / goodputOf(own) }];
  });
  const [most] = losses.sort((a, b) => b.loss - a.loss);
  if (most === undefined || most.loss <= TOLERANCE) return [];
  return [
    `${fileName(most.row.key!)} decides most: with it as configured, ${most.own.name} loses ` +
      `${formatShare(most.loss)}.`,
  ];
}

/** Splits of either kind whose goodput cannot be distinguished from the winner's, best first. */
export function likeWinner({ winner, rivals }: PlanResult): SplitResult[] {
  const alike = rivals.filter((one) => {
    return one.name !== winner.name && goodputOf(one) > 0 && !isToldApart(winner, one);
  });
  return alike.sort((a, b) => goodputOf(b) - goodputOf(a));
}
