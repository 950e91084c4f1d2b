import { roundTo } from '@baton/analysis';
import {
  type ConsoleColumn,
  consoleTable,
  formatNumber,
  formatShare,
  type TornadoSection,
  usd,
} from '@baton/report';
import { concerns } from '../candidates/assumption';
import {
  goodputOf,
  type Kind,
  KINDS,
  type PlanResult,
  type SensitivityRow,
} from '../candidates/split-result';
import type { PlanDocument } from './plan-document';

/** A split's goodput under one assumption. */
export interface WhatIfEnd {
  readonly assumption: string;
  readonly goodput_rps: number | null;
  /** Only with costs; null where the GPU has no price. */
  readonly usd_per_million_output_tokens?: number | null;
}

/** What one variable does to the goodput of a split. */
export interface WhatIfBar {
  readonly variable: string;
  /** The end with the lowest goodput, and the one with the highest; either may be as configured. */
  readonly low: WhatIfEnd;
  readonly high: WhatIfEnd;
  /** The distance of both as a share of the goodput as configured. */
  readonly effect: number | null;
}

/** The variables that change the goodput of a split, the largest effect first. */
export interface WhatIfDocument {
  readonly split: string;
  readonly goodput_rps: number | null;
  readonly bars: readonly WhatIfBar[];
}

/** The winner first. */
export function whatIfDocuments(result: PlanResult): WhatIfDocument[] {
  const { contenders, winner } = result;
  const kinds = KINDS.filter((kind) => goodputOf(contenders[kind]) > 0);
  return kinds
    .sort((a, b) => Number(contenders[b] === winner) - Number(contenders[a] === winner))
    .map((kind) => whatIfDocument(kind, result));
}

function whatIfDocument(kind: Kind, { contenders, sensitivity }: PlanResult): WhatIfDocument {
  const [configured, ...rows] = sensitivity;
  const base = goodputOf(contenders[kind]);
  const { split } = contenders[kind]!;
  const own = rows.filter(({ assumption, goodput }) => {
    return goodput[kind] !== undefined && concerns(assumption, split);
  });
  const variables = new Set(own.flatMap(({ assumption }) => assumption.variable ?? []));
  const bars = [...variables].map((variable): WhatIfBar => {
    const ends = [configured!, ...own.filter((row) => row.assumption.variable === variable)];
    // Equal goodput belongs to the values as configured, which come first.
    const low = ends.reduce((least, row) =>
      row.goodput[kind]! < least.goodput[kind]! ? row : least,
    );
    const high = ends.reduce((most, row) =>
      row.goodput[kind]! > most.goodput[kind]! ? row : most,
    );
    const effect = roundTo((high.goodput[kind]! - low.goodput[kind]!) / base, 6);
    return { variable, low: endOf(low, kind), high: endOf(high, kind), effect };
  });
  return {
    split: contenders[kind]!.name,
    goodput_rps: roundTo(base, 6),
    bars: bars.sort((a, b) => (b.effect ?? 0) - (a.effect ?? 0)),
  };
}

function endOf(
  { assumption, goodput, usdPerMillionTokens }: SensitivityRow,
  kind: Kind,
): WhatIfEnd {
  const dollars = usdPerMillionTokens[kind];
  return {
    assumption: assumption.name,
    goodput_rps: roundTo(goodput[kind] ?? NaN, 6),
    ...(dollars === undefined ? {} : { usd_per_million_output_tokens: dollars }),
  };
}

const WHAT_IF_COLUMNS: readonly ConsoleColumn[] = [
  { name: 'what changes' },
  { name: 'at least', align: 'right' },
  { name: 'if' },
  { name: 'at most', align: 'right' },
  { name: 'if' },
  { name: 'effect', align: 'right' },
];

/** The what-ifs of the winner as a table, the largest effect first. */
export function whatIfTable({ what_if: [winner] }: PlanDocument, width: number): string[] {
  if (winner === undefined) return [];
  const rows = winner.bars.map(({ variable, low, high, effect }) => [
    ...[variable, formatNumber(low.goodput_rps), low.assumption],
    ...[formatNumber(high.goodput_rps), high.assumption, formatShare(effect)],
  ]);
  const title = `What if: goodput of ${winner.split}, ${formatNumber(winner.goodput_rps)} requests/s`;
  return [`${title}\n${consoleTable(WHAT_IF_COLUMNS, rows, width)}`];
}

function endText({ goodput_rps, usd_per_million_output_tokens: dollars }: WhatIfEnd): string {
  const goodput = formatNumber(goodput_rps);
  return dollars === undefined ? goodput : `${goodput} (${usd(dollars)})`;
}

/** A chart for the winner, and one for the best split of the other kind. */
export function whatIfSections({ what_if }: PlanDocument): TornadoSection[] {
  return what_if.map(({ split, goodput_rps, bars }, i) => ({
    kind: 'tornado',
    title: `What if${i === 0 ? '' : ', other kind'}: goodput of ${split}`,
    note:
      `Its highest rate, ${formatNumber(goodput_rps)} requests/s as configured, searched anew ` +
      'with one thing changed. The largest effect comes first.' +
      (hasPrices(bars) ? ' In brackets: dollars per million output tokens.' : ''),
    base: goodput_rps ?? 0,
    bars: bars.map(({ variable, low, high }) => ({
      label: variable,
      low: { value: low.goodput_rps ?? 0, text: endText(low), detail: low.assumption },
      high: { value: high.goodput_rps ?? 0, text: endText(high), detail: high.assumption },
    })),
  }));
}

function hasPrices(bars: readonly WhatIfBar[]): boolean {
  return bars.some(({ low, high }) => {
    return (low.usd_per_million_output_tokens ?? high.usd_per_million_output_tokens) !== undefined;
  });
}
