import { Curve } from './curve';
import { FORMAT_BYTES, type OperatorFormat, peakOf } from './number-format';
import { readNumbers } from './number-rows';
import { speedOfLightUs, type SystemFacts } from './system-facts';

/** The experts of one layer and how they are spread. */
export interface ExpertShape {
  /** How evenly tokens choose experts, by the name that the tables have. */
  readonly distribution: string;
  readonly topK: number;
  readonly experts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly tensorParallel: number;
  readonly expertParallel: number;
}

/** Fields of a row before the tokens. */
const SHAPE_FIELDS = 7;

/** Fused experts of one layer on one GPU, by tokens of all ranks before routing. */
export class ExpertTable {
  private readonly curves = new Map<string, Curve>();

  constructor(
    csv: string,
    private readonly system: SystemFacts,
    private readonly format: OperatorFormat,
  ) {
    let [known, curve] = ['', new Curve()];
    const point = new Float64Array(2);
    for (let at = csv.indexOf('\n') + 1; at > 0 && at < csv.length;) {
      const isKnown = known !== '' && csv.startsWith(known, at);
      const key = isKnown ? known : csv.slice(at, endOfKey(csv, at));
      if (!isKnown) curve = this.curveOf(key.slice(0, -1));
      known = key;
      at = readNumbers(csv, at + key.length, point);
      curve.add(point[0]!, point[1]!);
    }
  }

  private curveOf(key: string): Curve {
    const curve = this.curves.get(key) ?? new Curve();
    this.curves.set(key, curve);
    return curve;
  }

  has(shape: ExpertShape): boolean {
    return this.curves.has(keyOf(shape));
  }

  covers(shape: ExpertShape, tokens: number): boolean {
    return this.curves.get(keyOf(shape))?.covers(tokens) ?? false;
  }

  /** Time in µs; undefined when the shape was not measured. */
  us(shape: ExpertShape, tokens: number): number | undefined {
    const curve = this.curves.get(keyOf(shape));
    if (curve === undefined) return undefined;
    const within = curve.at(tokens);
    if (within !== undefined) return within;
    const end = tokens < curve.firstX ? 0 : curve.xs.length - 1;
    const utilisation = this.speedOfLightUs(shape, curve.xs[end]!) / curve.us[end]!;
    return this.speedOfLightUs(shape, tokens) / utilisation;
  }

  private speedOfLightUs(shape: ExpertShape, tokens: number): number {
    const { topK, experts, hidden, intermediate, tensorParallel, expertParallel } = shape;
    const routed = tokens * topK;
    const own = Math.floor(routed / expertParallel);
    const width = intermediate / tensorParallel;
    const read = Math.min(experts / expertParallel, own);
    return speedOfLightUs(this.system, {
      flops: (6 * routed * hidden * width) / expertParallel,
      peak: peakOf(this.system, this.format),
      bytes:
        FORMAT_BYTES[this.format] *
        (2 * hidden * own + 3 * width * own + 3 * hidden * width * read),
    });
  }
}

/** Behind the comma after the last field of a shape: rows of a shape begin alike. */
function endOfKey(csv: string, start: number): number {
  let at = start;
  for (let field = 0; field < SHAPE_FIELDS; field++) at = csv.indexOf(',', at) + 1;
  return at;
}

function keyOf(shape: ExpertShape): string {
  const { distribution, topK, experts, hidden, intermediate } = shape;
  const spread = `${shape.tensorParallel},${shape.expertParallel}`;
  return `${distribution},${topK},${experts},${hidden},${intermediate},${spread}`;
}
