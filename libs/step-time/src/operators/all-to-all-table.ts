import { Curve } from './curve';
import { forEachRow } from './operator-texts';

/** The exchanges of ranks around the experts of a layer: destinations, tokens, results. */
export type AllToAllPhase = 'prepare' | 'dispatch' | 'combine' | 'combine_low_precision';

/** Tokens in transit: a vector of `hidden` elements each, to the ranks of `topK` experts. */
export interface RoutedShape {
  readonly topK: number;
  readonly hidden: number;
  readonly ranks: number;
}

/** The kernel of TensorRT-LLM's disaggregated engines on racks. */
const KERNEL = 'NVLinkTwoSided';

/** An all-to-all over NVLink by tokens of one rank, as TensorRT-LLM runs it on racks. */
export class AllToAllTable {
  private readonly curves = new Map<string, Curve>();

  constructor(csv: string) {
    forEachRow(csv, ([kernel, operation, topK, , hidden, ranks, tokens, us]) => {
      if (kernel !== KERNEL) return;
      const key = `${operation!.replace('alltoall_', '')},${topK!},${hidden!},${ranks!}`;
      const curve = this.curves.get(key) ?? new Curve();
      this.curves.set(key, curve);
      curve.add(Number(tokens), Number(us));
    });
  }

  /** Time in µs. Undefined when the phase of this shape was not measured. */
  timeUs(phase: AllToAllPhase, { topK, hidden, ranks }: RoutedShape, tokens: number) {
    const curve = this.curves.get(`${phase},${topK},${hidden},${ranks}`);
    if (curve === undefined) return undefined;
    if (tokens < curve.firstX) return curve.us[0]!;
    return curve.at(tokens) ?? (curve.us.at(-1)! * tokens) / curve.lastX;
  }

  /** Most tokens of one rank at which the phase of this shape was measured; 0: it was not. */
  lastMeasured(phase: AllToAllPhase, { topK, hidden, ranks }: RoutedShape): number {
    return this.curves.get(`${phase},${topK},${hidden},${ranks}`)?.lastX ?? 0;
  }
}
