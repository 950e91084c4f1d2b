import { Curve } from './curve';
import { FORMAT_BYTES, type OperatorFormat, peakOf } from './number-format';
import { behindFields, forEachRun, readNumbers, type TextRange } from './number-rows';
import { speedOfLightUs, type SystemFacts } from './system-facts';

/** The experts of one layer and how they are spread. */
export interface ExpertShape {
  /** The evenness of the tokens' choice of experts, by the name in the tables. */
  readonly distribution: string;
  readonly topK: number;
  readonly experts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly tensorParallel: number;
  readonly expertParallel: number;
}

/** The measurements of one shape: the place of its rows, and on first use their curve. */
interface Measured {
  readonly shape: ExpertShape;
  readonly range: TextRange;
  curve?: Curve;
}

/** Octaves of (hidden, width, experts) within which one shape predicts another. */
const REACH_OCTAVES = 2;

/** Fields of a row before the tokens. */
const SHAPE_FIELDS = 7;

/**
 * Fused experts of one layer on one GPU, by tokens of all ranks before routing. A shape without
 * measurements uses the utilisation of the nearest one at as many rows per expert. It keeps the
 * text and reads the rows of a shape on first use.
 */
export class ExpertTable {
  private readonly measured = new Map<string, Measured>();
  private readonly nearest = new Map<string, Measured | undefined>();

  constructor(
    private readonly csv: string,
    private readonly system: SystemFacts,
    private readonly format: OperatorFormat,
  ) {
    forEachRun(csv, SHAPE_FIELDS, (key, range) => {
      this.measured.set(key.join(','), { shape: shapeOf(key), range });
    });
  }

  private readCurve([start, end]: TextRange): Curve {
    const curve = new Curve();
    const point = new Float64Array(2);
    for (let at = start; at < end;) {
      at = readNumbers(this.csv, behindFields(this.csv, at, SHAPE_FIELDS), point);
      curve.add(point[0]!, point[1]!);
    }
    return curve;
  }

  /** Time in µs; undefined when no measured shape is near. */
  timeUs(shape: ExpertShape, tokens: number): number | undefined {
    const key = keyOf(shape);
    const known = this.measured.get(key);
    if (known !== undefined) return this.onCurve(known, tokens);
    const near = this.nearestOf(key, shape);
    if (near === undefined) return undefined;
    const alike = Math.max(1, (tokens * rowsPerExpert(shape)) / rowsPerExpert(near.shape));
    const utilisation = this.speedOfLightUs(near.shape, alike) / this.onCurve(near, alike);
    return this.speedOfLightUs(shape, tokens) / utilisation;
  }

  /** Most tokens of all ranks at which this shape was measured, or the one that predicts it. */
  lastMeasured(shape: ExpertShape): number {
    const key = keyOf(shape);
    const known = this.measured.get(key) ?? this.nearestOf(key, shape);
    if (known === undefined) return 0;
    const alike = rowsPerExpert(known.shape) / rowsPerExpert(shape);
    return Math.floor(this.curveOf(known).lastX * alike);
  }

  private nearestOf(key: string, shape: ExpertShape): Measured | undefined {
    if (!this.nearest.has(key)) this.nearest.set(key, this.nearestTo(shape));
    return this.nearest.get(key);
  }

  private curveOf(known: Measured): Curve {
    return (known.curve ??= this.readCurve(known.range));
  }

  private onCurve(known: Measured, tokens: number): number {
    const { shape } = known;
    const curve = this.curveOf(known);
    const within = curve.at(tokens);
    if (within !== undefined) return within;
    const end = tokens < curve.firstX ? 0 : curve.xs.length - 1;
    const utilisation = this.speedOfLightUs(shape, curve.xs[end]!) / curve.us[end]!;
    return this.speedOfLightUs(shape, tokens) / utilisation;
  }

  /** Among shapes with as many ranks, because their loads are equally uneven. */
  private nearestTo(shape: ExpertShape): Measured | undefined {
    const found = [...this.measured.values()]
      .filter((one) => one.shape.distribution === shape.distribution)
      .filter((one) => one.shape.expertParallel === shape.expertParallel)
      .map((one) => ({ one, octaves: octavesBetween(one.shape, shape) }))
      .sort((a, b) => a.octaves - b.octaves)[0];
    return found !== undefined && found.octaves <= REACH_OCTAVES ? found.one : undefined;
  }

  private speedOfLightUs(shape: ExpertShape, tokens: number): number {
    const { topK, experts, hidden, intermediate, tensorParallel, expertParallel } = shape;
    const routed = tokens * topK;
    const own = Math.max(1, Math.floor(routed / expertParallel));
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

function rowsPerExpert({ topK, experts }: ExpertShape): number {
  return topK / experts;
}

function octavesBetween(a: ExpertShape, b: ExpertShape): number {
  return Math.hypot(
    Math.log2(a.hidden / b.hidden),
    Math.log2(a.intermediate / a.tensorParallel / (b.intermediate / b.tensorParallel)),
    Math.log2(a.experts / b.experts),
  );
}

function shapeOf(fields: readonly string[]): ExpertShape {
  const [distribution = '', ...numbers] = fields;
  const [topK, experts, hidden, intermediate, tensorParallel, expertParallel] = numbers.map(Number);
  return {
    distribution,
    topK: topK!,
    experts: experts!,
    hidden: hidden!,
    intermediate: intermediate!,
    tensorParallel: tensorParallel!,
    expertParallel: expertParallel!,
  };
}

function keyOf(shape: ExpertShape): string {
  const { distribution, topK, experts, hidden, intermediate } = shape;
  const spread = `${shape.tensorParallel},${shape.expertParallel}`;
  return `${distribution},${topK},${experts},${hidden},${intermediate},${spread}`;
}
