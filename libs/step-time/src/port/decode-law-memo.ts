import type { DecodeLaw } from './step-time-model';

/**
 * Caches the laws that are valid for all contexts, by number of sequences: batches change often,
 * but their sizes repeat.
 */
export class DecodeLawMemo {
  private readonly laws: (DecodeLaw | undefined)[] = [];

  constructor(
    private readonly baseUs: (decodeSeqs: number) => number,
    private readonly perContextUs: number,
  ) {}

  of(decodeSeqs: number): DecodeLaw {
    return (this.laws[decodeSeqs] ??= {
      baseUs: this.baseUs(decodeSeqs),
      perContextUs: this.perContextUs,
      contextLimit: Infinity,
    });
  }
}
