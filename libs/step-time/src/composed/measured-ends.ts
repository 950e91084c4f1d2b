/** Most tokens of a step that the operators in use were measured at. */
export interface TokenEnds {
  /** Limit for matrix products and exchanges: tokens of the step itself. */
  readonly ofStep: number;
  /** Limit for experts: tokens of all data-parallel ranks together. */
  readonly ofAllRanks: number;
}

export type StepKind = 'decode' | 'mixed';

const STEP_KINDS: readonly StepKind[] = ['decode', 'mixed'];

/**
 * Collects the ends of the measured ranges while a step is put together, by steps that only decode
 * and others. Collectives are left out: they were measured beyond the other operators.
 */
export class MeasuredEnds {
  private readonly ends: Record<StepKind, { ofStep: number; ofAllRanks: number }> = {
    decode: { ofStep: Infinity, ofAllRanks: Infinity },
    mixed: { ofStep: Infinity, ofAllRanks: Infinity },
  };

  ofStep(tokens: number, kinds: readonly StepKind[] = STEP_KINDS): void {
    for (const kind of kinds) this.ends[kind].ofStep = Math.min(this.ends[kind].ofStep, tokens);
  }

  ofAllRanks(tokens: number, kind: StepKind): void {
    this.ends[kind].ofAllRanks = Math.min(this.ends[kind].ofAllRanks, tokens);
  }

  /** @param most  tokens of a rank's step up to which it is tabulated */
  within(most: number, ranks: number): Readonly<Record<StepKind, TokenEnds>> {
    const capped = ({ ofStep, ofAllRanks }: TokenEnds): TokenEnds => ({
      ofStep: Math.min(ofStep, most),
      ofAllRanks: Math.min(ofAllRanks, most * ranks),
    });
    return { decode: capped(this.ends.decode), mixed: capped(this.ends.mixed) };
  }
}
