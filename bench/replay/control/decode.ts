import type { EngineOptions } from '@baton/engine';
import { EventQueue, type Micros } from '@baton/kernel';
import type { ControlRows } from './rows';

/**
 * A decode engine of the control: a batch that only sequences with their KV join, whose steps end
 * by the closed form of the step-time model. A sequence that comes during a step is in the batch
 * after the next, as with async scheduling.
 */
export class ControlDecode {
  endUs: Micros = Infinity;
  steps = 0;
  lastTurn = 0;
  /** Rows that are here or on their way. */
  load = 0;
  private size = 0;
  /** Σ tokens in KV. */
  private context = 0;
  /** By the step after which a row ends. */
  private readonly byFinish = new EventQueue();
  private ready: number[] = [];
  private formed: number[] = [];
  /** The step at which the leap under way ends. */
  private until = 0;
  private anchorUs: Micros = 0;
  private anchorStep = 0;
  private firstUs = 0;
  private bend = 0;

  constructor(
    private readonly options: EngineOptions,
    private readonly rows: ControlRows,
  ) {}

  get isStepping(): boolean {
    return this.endUs !== Infinity;
  }

  get hasRoom(): boolean {
    return this.load < this.options.maxNumSeqs;
  }

  /** The KV of the row has come; returns whether the end of the step under way has moved. */
  arrive(row: number, nowUs: Micros): boolean {
    this.ready.push(row);
    if (!this.isStepping || this.until === this.steps + 1) return false;
    const step = this.stepEndingFrom(nowUs);
    if (step >= this.until) return false;
    this.until = step;
    this.endUs = this.boundaryUs(step);
    return true;
  }

  /** Begins a step, or as many as change nothing; false when the engine is empty. */
  begin(nowUs: Micros): boolean {
    const isEmpty = this.size + this.formed.length === 0;
    const joining = isEmpty ? this.ready : this.formed;
    for (const row of joining) this.join(row);
    const isNew = joining.length > 0;
    joining.length = 0;
    if (!isEmpty) [this.formed, this.ready] = [this.ready, this.formed];
    this.endUs = Infinity;
    if (this.size === 0) return false;
    if (isNew || this.anchorUs < 0) this.anchor(nowUs);
    this.until = this.formed.length > 0 ? this.steps + 1 : this.byFinish.peekTimeUs();
    this.endUs = this.boundaryUs(this.until);
    return true;
  }

  /** The steps have ended; returns the number of rows that have their last token. */
  endSteps(): number {
    this.context += (this.until - this.steps) * this.size;
    this.steps = this.until;
    const before = this.size;
    while (this.byFinish.peekTimeUs() <= this.steps) this.leave(this.byFinish.pop());
    return before - this.size;
  }

  private join(row: number): void {
    this.size++;
    this.context += this.rows.promptTokens[row]! - 1;
    this.byFinish.push(this.steps + this.rows.outputTokens[row]!, 0, row);
  }

  private leave(row: number): void {
    this.size--;
    this.load--;
    this.context -= this.rows.promptTokens[row]! - 1 + this.rows.outputTokens[row]!;
    this.rows.finishUs[row] = this.endUs;
    this.anchorUs = -1;
  }

  /** Lays the next steps end to end: see DecodeTimeline. */
  private anchor(nowUs: Micros): void {
    const attended = this.context + this.size;
    const law = this.options.stepTime.decodeLaw!(this.size, attended)!;
    this.anchorUs = nowUs;
    this.anchorStep = this.steps;
    this.firstUs = Math.max(1, law.baseUs + law.perContextUs * attended);
    this.bend = (law.perContextUs * this.size) / 2;
  }

  /** The first step from now on that ends at this instant or later. */
  private stepEndingFrom(atUs: Micros): number {
    const { bend, anchorStep } = this;
    const slope = this.firstUs - bend;
    const spanUs = atUs - this.anchorUs;
    const root = bend === 0 ? spanUs / slope : rootOf(bend, slope, spanUs);
    let step = Math.max(this.steps + 1, anchorStep + Math.ceil(root));
    while (step > this.steps + 1 && this.boundaryUs(step - 1) >= atUs) step--;
    while (this.boundaryUs(step) < atUs) step++;
    return step;
  }

  private boundaryUs(step: number): Micros {
    const j = step - this.anchorStep;
    return this.anchorUs + Math.round(j * this.firstUs + this.bend * j * (j - 1));
  }
}

/** The positive j with bend · j² + slope · j = span. */
function rootOf(bend: number, slope: number, span: number): number {
  return (Math.sqrt(slope * slope + 4 * bend * span) - slope) / (2 * bend);
}
