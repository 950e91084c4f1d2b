import { Curve } from './curve';
import { forEachNumberRow } from './number-rows';

/** Time of quantising activations of m rows and width k, µs. */
export class QuantiseTable {
  private readonly curves = new Map<number, Curve>();

  constructor(csv: string) {
    forEachNumberRow(csv, 3, (row) => {
      const [k, m, us] = row;
      const curve = this.curves.get(k!) ?? new Curve();
      this.curves.set(k!, curve);
      curve.add(m!, us!);
    });
  }

  /**
   * A width without measurements uses the nearest one. Beyond the largest m the time grows with m.
   */
  timeUs(m: number, k: number): number {
    const curve = this.curves.get(k) ?? this.curves.get(this.nearest(k))!;
    return curve.at(m) ?? (m < curve.firstX ? curve.us[0]! : (curve.us.at(-1)! * m) / curve.lastX);
  }

  private nearest(k: number): number {
    const apart = (width: number): number => Math.abs(Math.log2(width / k));
    return [...this.curves.keys()].reduce((best, width) =>
      apart(width) < apart(best) ? width : best,
    );
  }
}
