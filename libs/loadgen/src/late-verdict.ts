import { type LateFigureName, type Lateness, OBJECTIVES } from '@baton/analysis';

/** What was late, as a sentence without its full stop, and the figures that this makes wrong. */
export interface LateVerdict {
  readonly reason: string;
  readonly figures: readonly LateFigureName[];
}

const FIGURES: readonly LateFigureName[] = [...OBJECTIVES, 'throughput'];

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
