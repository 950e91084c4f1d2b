import { type LateFigureName, type Lateness, OBJECTIVES } from '@baton/analysis';

/** What was late, as a sentence without its full stop, and the figures that this makes wrong. */
export interface LateVerdict {
  readonly reason: string;
  readonly figures: readonly LateFigureName[];
}

const FIGURES: readonly LateFigureName[] = [...OBJECTIVES, 'throughput'];

/** Above this share of late events, work does not catch up, and means are wrong, too. */
const MEAN_SHARE = 0.5;

/**
 * The figures that late events make wrong: those of single events (`single`), and, when most events
 * are late, the means over all of them (`means`): work that is late once catches up.
 */
export function figuresOf(
  { late, all }: { readonly late: number; readonly all: number },
  single: readonly LateFigureName[],
  means: readonly LateFigureName[],
): readonly LateFigureName[] {
  return late > MEAN_SHARE * all ? [...single, ...means] : single;
}

/** The lateness of a run with all verdicts on it. */
export function withVerdicts(
  lateness: Omit<Lateness, 'void' | 'void_figures'>,
  verdicts: readonly LateVerdict[],
): Lateness {
  const wrong = new Set(verdicts.flatMap(({ figures }) => figures));
  return {
    ...lateness,
    void: verdicts.length === 0 ? null : verdicts.map(({ reason }) => reason).join('; '),
    void_figures: FIGURES.filter((figure) => wrong.has(figure)),
  };
}
