import { Curve } from './curve';
import { forEachRow } from './operator-texts';
import type { SystemFacts } from './system-facts';

/** Collectives among the GPUs of an engine, by elements of two bytes. */
export class CollectiveTable {
  private readonly curves = new Map<number, Curve>();

  /** @param operation  selects its rows in a table of several operations */
  constructor(
    csv: string,
    private readonly system: SystemFacts,
    operation?: string,
  ) {
    const skipped = operation === undefined ? 0 : 1;
    forEachRow(csv, (fields) => {
      if (operation !== undefined && fields[0] !== operation) return;
      const [gpus, elements, us] = fields.slice(skipped).map(Number);
      const curve = this.curves.get(gpus!) ?? new Curve();
      this.curves.set(gpus!, curve);
      curve.add(elements!, us!);
    });
  }

  /** Time in µs. More GPUs than measured use the rate of the slowest link among them. */
  timeUs(gpus: number, elements: number): number {
    if (gpus <= 1) return 0;
    const known = this.curves.get(gpus);
    if (known !== undefined) return onCurve(known, elements);
    const measured = [...this.curves.keys()];
    const nearest = measured.filter((own) => own <= gpus).sort((a, b) => b - a)[0] ?? measured[0]!;
    const share = ((gpus - 1) / gpus) * (nearest / (nearest - 1));
    const slower = this.bytesPerSecond(nearest) / this.bytesPerSecond(gpus);
    return onCurve(this.curves.get(nearest)!, elements) * share * slower;
  }

  covers(gpus: number, elements: number): boolean {
    return gpus <= 1 || (this.curves.get(gpus)?.covers(elements) ?? false);
  }

  private bytesPerSecond(gpus: number): number {
    const { gpusPerNode, gpusPerRack, nodeBytesPerSecond } = this.system;
    if (gpus <= gpusPerNode) return nodeBytesPerSecond;
    return gpus <= gpusPerRack ? this.system.rackBytesPerSecond : this.system.fabricBytesPerSecond;
  }
}

/** Beyond the largest message the rate is constant. Below the smallest one the time is. */
function onCurve(curve: Curve, elements: number): number {
  if (elements < curve.firstX) return curve.us[0]!;
  return curve.at(elements) ?? (curve.us.at(-1)! * elements) / curve.lastX;
}
