import type { ReportSection } from './sections';

/** Most charts that are open at first. */
export const MOST_CHARTS = 5;

/**
 * The sections whose titles are in `open` (whole, or the part before a colon), then the others,
 * folded. Of the open charts, only the first `MOST_CHARTS` stay open.
 */
export function foldExcept(
  sections: readonly ReportSection[],
  open: readonly string[],
): ReportSection[] {
  let charts = 0;
  const isOpen = (section: ReportSection): boolean => {
    const isNamed = open.some((name) => `${section.title}:`.startsWith(`${name}:`));
    return isNamed && (!isChart(section) || (charts += 1) <= MOST_CHARTS);
  };
  const shown = new Set(sections.filter(isOpen));
  const rest = sections.filter((section) => !shown.has(section));
  return [...shown, ...rest.map((section) => ({ ...section, isFolded: true }))];
}

export function isChart({ kind }: ReportSection): boolean {
  return ['lineChart', 'bars', 'tornado', 'heatMap', 'gantt'].includes(kind);
}
