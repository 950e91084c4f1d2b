import type { ClusterScenario } from '@baton/simulation';
import type { EngineRole } from '@baton/policies';
import { assert, EventQueue, type Micros } from '@baton/kernel';
import { ControlDecode } from './decode';
import { ControlPrefill } from './prefill';
import type { ControlRows } from './rows';

/** Kinds of events, in the order in which they are handled at one instant. */
const KIND = { end: 0, arrive: 1, begin: 2 } as const;

interface Taker {
  readonly hasRoom: boolean;
  readonly load: number;
  lastTurn: number;
}

/**
 * The control of the replay budget: the least that a simulator of the same cluster does. An event
 * loop, a shared queue for each stage, batches, and decode steps in closed form, but no KV: no
 * blocks, no prefix index, no hand-over protocol, no transfers that share links, no log beside the
 * ends, no gauges. The hits of the prefix cache and the times of the hand-overs come from the log
 * of Baton's run, so that both do the same steps.
 */
export class ControlKernel {
  events = 0;
  ended = 0;
  private readonly queue = new EventQueue();
  private readonly prefill: ControlPrefill[];
  private readonly decode: ControlDecode[];
  private readonly waiting: number[] = [];
  private head = 0;
  /** By row: the decode engine that it goes to. */
  private readonly reader: Int16Array;
  private turn = 0;
  private nextRow = 0;

  constructor(
    scenario: ClusterScenario,
    private readonly rows: ControlRows,
  ) {
    this.reader = new Int16Array(rows.count);
    const some = <E>(role: EngineRole, create: () => E): E[] =>
      scenario.pools
        .filter((pool) => pool.role === role)
        .flatMap(({ count }) => Array.from({ length: count }, create));
    const optionsOf = (role: EngineRole) =>
      scenario.pools.find((pool) => pool.role === role)!.options;
    this.prefill = some('prefill', () => new ControlPrefill(optionsOf('prefill'), rows));
    this.decode = some('decode', () => new ControlDecode(optionsOf('decode'), rows));
  }

  get steps(): number {
    return [...this.prefill, ...this.decode].reduce((sum, { steps }) => sum + steps, 0);
  }

  run(): void {
    const { queue, rows } = this;
    const engines = this.prefill.length + this.decode.length;
    this.expectArrival();
    while (queue.size > 0) {
      const nowUs = queue.peekTimeUs();
      const payload = queue.pop();
      this.events++;
      if (payload === -1) this.arrive(nowUs);
      else if (payload < this.prefill.length) this.stepPrefill(payload, nowUs);
      else if (payload < engines) this.stepDecode(payload - this.prefill.length, nowUs);
      else this.receive(payload - engines, nowUs);
    }
    assert(this.ended === rows.count, 'the control has lost requests');
  }

  private expectArrival(): void {
    const { nextRow, rows } = this;
    if (nextRow < rows.count) this.queue.push(rows.arrivalUs[nextRow]!, KIND.arrive, -1);
  }

  private arrive(nowUs: Micros): void {
    this.waiting.push(this.nextRow++);
    this.expectArrival();
    if (this.waiting.length - this.head > 1) return;
    const at = this.choose(this.prefill);
    if (at < 0) return;
    this.takeFirst(at);
    if (!this.prefill[at]!.isStepping) this.queue.push(nowUs, KIND.begin, at);
  }

  private takeFirst(at: number): void {
    const engine = this.prefill[at]!;
    engine.lastTurn = this.turn++;
    engine.take(this.waiting[this.head++]!);
    if (this.head < this.waiting.length) return;
    this.waiting.length = 0;
    this.head = 0;
  }

  private stepPrefill(at: number, nowUs: Micros): void {
    const engine = this.prefill[at]!;
    if (engine.isStepping) {
      if (engine.endUs !== nowUs) return;
      for (const row of engine.endStep()) this.handOver(row, nowUs);
    }
    if (engine.begin(nowUs)) this.queue.push(engine.endUs, KIND.end, at);
    while (this.head < this.waiting.length && engine.hasRoom) this.takeFirst(at);
    if (!engine.isStepping && engine.load > 0) this.queue.push(nowUs, KIND.begin, at);
  }

  private handOver(row: number, nowUs: Micros): void {
    const at = this.choose(this.decode);
    assert(at >= 0, 'the decode engines of the control have room');
    const engine = this.decode[at]!;
    engine.load++;
    engine.lastTurn = this.turn++;
    this.reader[row] = at;
    const engines = this.prefill.length + this.decode.length;
    this.queue.push(nowUs + this.rows.handoffUs(row), KIND.arrive, engines + row);
  }

  private receive(row: number, nowUs: Micros): void {
    const at = this.reader[row]!;
    const engine = this.decode[at]!;
    const hasMoved = engine.arrive(row, nowUs);
    const payload = this.prefill.length + at;
    if (!engine.isStepping) this.queue.push(nowUs, KIND.begin, payload);
    else if (hasMoved) this.queue.push(engine.endUs, KIND.end, payload);
  }

  private stepDecode(at: number, nowUs: Micros): void {
    const engine = this.decode[at]!;
    if (engine.isStepping) {
      if (engine.endUs !== nowUs) return;
      this.ended += engine.endSteps();
    }
    if (engine.begin(nowUs)) this.queue.push(engine.endUs, KIND.end, this.prefill.length + at);
  }

  /** An idle engine first, then the one whose last take is longest ago; -1 when none has room. */
  private choose(engines: readonly Taker[]): number {
    let first = -1;
    for (let at = 0; at < engines.length; at++) {
      if (!engines[at]!.hasRoom) continue;
      if (first < 0 || isBefore(engines[at]!, engines[first]!)) first = at;
    }
    return first;
  }
}

function isBefore(a: Taker, b: Taker): boolean {
  if ((a.load === 0) !== (b.load === 0)) return a.load === 0;
  return a.lastTurn < b.lastTurn;
}
