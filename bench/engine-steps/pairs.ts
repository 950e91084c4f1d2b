import { Engine, type EngineOptions, type SequenceHandle, type SequenceSpec } from '@baton/engine';
import { assert, EventQueue, type Micros } from '@baton/kernel';
import type { Workload } from '@baton/workload';

const TRANSFER_US = 20_000;
/**
 * Payloads below this are engines at the end of a step. Payloads from here on are rows at the end
 * of a transfer.
 */
const FIRST_ROW = 1_024;
/** Outside events precede the end of a step at the same instant. */
const TRANSFER_END = 1;
const STEP_END = 2;

interface Seat {
  readonly engine: Engine;
  readonly rowOf: number[];
  /** End of the step under way; Infinity without one. */
  endUs: Micros;
}

interface Cluster {
  readonly prefill: number;
  readonly decode: number;
  readonly options: EngineOptions;
}

/**
 * Prefill and decode engines with a minimal driver: arrivals go round the prefill engines, held
 * prompts go round the decode engines, and every transfer takes the same time. Decode steps leap
 * until the next event.
 */
export class Pairs {
  readonly prefill: Seat[];
  readonly decode: Seat[];
  nowUs: Micros = 0;
  stepEnds = 0;
  prefillBusyUs: Micros = 0;
  private readonly seats: Seat[];
  private readonly events = new EventQueue(4_096);
  private readonly spec: { -readonly [K in keyof SequenceSpec]: SequenceSpec[K] };
  private readonly sourceHandles: Int32Array;
  private readonly targetHandles: Int32Array;
  private arrived = 0;

  constructor(
    private readonly load: Workload,
    { prefill, decode, options }: Cluster,
  ) {
    this.seats = Array.from({ length: prefill + decode }, () => ({
      engine: new Engine(options),
      rowOf: [],
      endUs: Infinity,
    }));
    this.prefill = this.seats.slice(0, prefill);
    this.decode = this.seats.slice(prefill);
    this.sourceHandles = new Int32Array(load.count);
    this.targetHandles = new Int32Array(load.count);
    this.spec = {
      promptTokens: 1,
      outputTokens: 1,
      endReason: 'stop',
      blockHashes: load.contentIds,
      blockFrom: 0,
      blockCount: 0,
      priority: 0,
      arrivalUs: 0,
      mode: 'generate',
    };
  }

  run(): void {
    const { load, events } = this;
    for (;;) {
      const arrivalUs = this.arrived < load.count ? load.arrivalUs[this.arrived]! : Infinity;
      const eventUs = events.peekTimeUs();
      if (arrivalUs === Infinity && eventUs === Infinity) return;
      this.nowUs = Math.min(arrivalUs, eventUs);
      if (arrivalUs <= eventUs) this.arrive(this.arrived++);
      else this.happen(events.pop());
    }
  }

  private happen(payload: number): void {
    if (payload >= FIRST_ROW) this.endTransfer(payload - FIRST_ROW);
    else if (this.seats[payload]!.endUs === this.nowUs) this.endStep(payload);
  }

  private arrive(row: number): void {
    const index = row % this.prefill.length;
    this.sourceHandles[row] = this.submit(index, row, 'prefill-and-hold');
    if (this.seats[index]!.endUs === Infinity) this.beginStep(index);
  }

  private submit(index: number, row: number, mode: SequenceSpec['mode']): SequenceHandle {
    const { spec, load } = this;
    const { engine, rowOf } = this.seats[index]!;
    spec.promptTokens = load.promptTokens[row]!;
    spec.outputTokens = load.outputTokens[row]!;
    spec.blockFrom = load.contentStart[row]!;
    spec.blockCount = load.contentStart[row + 1]! - spec.blockFrom;
    spec.arrivalUs = this.nowUs;
    spec.mode = mode;
    const admission = engine.submit(spec);
    assert(admission.kind === 'accepted', 'the load fits every engine');
    rowOf[admission.handle] = row;
    return admission.handle;
  }

  private beginStep(index: number): void {
    const seat = this.seats[index]!;
    const endUs = seat.engine.beginStep(this.nowUs);
    this.reserve(index);
    if (endUs === undefined) seat.endUs = Infinity;
    else this.expectEnd(index, this.isPrefill(index) ? endUs : seat.engine.nextUs(Infinity));
  }

  private expectEnd(index: number, endUs: Micros): void {
    const seat = this.seats[index]!;
    if (seat.endUs === endUs) return;
    seat.endUs = endUs;
    this.events.push(endUs, STEP_END, index);
  }

  private endStep(index: number): void {
    const { engine, rowOf } = this.seats[index]!;
    engine.advanceTo(this.nowUs);
    const { startUs, held } = engine.endStep();
    this.stepEnds++;
    if (this.isPrefill(index)) this.prefillBusyUs += this.nowUs - startUs;
    for (let i = 0; i < held.length; i++) this.handOver(rowOf[held[i]!]!);
    this.beginStep(index);
  }

  private handOver(row: number): void {
    const index = this.targetOf(row);
    const seat = this.seats[index]!;
    seat.engine.advanceTo(this.nowUs);
    this.targetHandles[row] = this.submit(index, row, 'remote-prefill');
    if (seat.endUs === Infinity) this.beginStep(index);
  }

  private reserve(index: number): void {
    const { engine, rowOf } = this.seats[index]!;
    for (let r = engine.reserveNext(); r !== undefined; r = engine.reserveNext()) {
      this.events.push(this.nowUs + TRANSFER_US, TRANSFER_END, FIRST_ROW + rowOf[r.handle]!);
    }
  }

  private endTransfer(row: number): void {
    this.prefill[row % this.prefill.length]!.engine.releaseHeld(this.sourceHandles[row]!);
    const index = this.targetOf(row);
    const seat = this.seats[index]!;
    seat.engine.advanceTo(this.nowUs);
    if (seat.endUs !== Infinity) this.expectEnd(index, seat.engine.nextUs(this.nowUs));
    seat.engine.kvArrived(this.targetHandles[row]!);
    if (seat.endUs === Infinity) this.beginStep(index);
  }

  private targetOf(row: number): number {
    return this.prefill.length + (row % this.decode.length);
  }

  private isPrefill(index: number): boolean {
    return index < this.prefill.length;
  }
}
