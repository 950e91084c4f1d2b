import type { ReportSection } from './sections';

/** Charts that a page shows at once; more hide what matters. */
export const MOST_CHARTS = 5;

/**
 * The sections that `open` names by their titles, or by what stands before a colon in them, then
 * the others, folded. Charts are open first come, first served, up to `MOST_CHARTS`.
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
  return kind === 'lineChart' || kind === 'bars' || kind === 'heatMap' || kind === 'gantt';
}
