import type { SequenceHandle, SequenceSpec, StepFacts } from '@baton/engine';
import { type Micros, NOT_YET } from '@baton/kernel';
import type { EngineRole } from '@baton/policies';
import { Arrivals } from './arrivals';
import { type Calendar, TIE } from './calendar';
import { VirtualFlowGate } from './flow/virtual-flow-gate';
import { FrontEndPasses } from './front-end-passes';
import type { Handoffs } from './handoffs';
import type { Journal } from './journal';
import { type Place, Router } from './router';
import type { ClusterScenario, RunObserver } from './scenario';
import type { VirtualStage } from './stage';
import { NONE, type Trips } from './trips';
import type { VirtualEngine } from './virtual-engine';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface LifecycleParts {
  readonly engines: readonly VirtualEngine[];
  readonly calendar: Calendar;
  readonly journal: Journal;
  readonly handoffs: Handoffs;
  readonly trips: Trips;
  readonly slots: { readonly arrivals: number; readonly passes: number; readonly flow: number };
  readonly observer: Pick<RunObserver, 'onEnd' | 'policyWatch' | 'onShadow'>;
}

/**
 * The way of the requests, from their arrival through front end, flow control, placement, engine,
 * hand-over and decode to their end. It calls the parts below it, and they return what follows.
 */
export class Lifecycle {
  readonly stages: Readonly<Record<EngineRole, VirtualStage>>;
  private readonly router: Router;
  private readonly arrivals: Arrivals;
  /** Undefined without a front end. */
  private readonly passes: FrontEndPasses | undefined;
  /** Undefined without flow control. */
  private readonly gate: VirtualFlowGate | undefined;
  private readonly spec: Mutable<SequenceSpec>;
  /** True when the observer wants no more. */
  isStopped = false;

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: LifecycleParts,
  ) {
    this.arrivals = new Arrivals(scenario.workload, {
      maxConcurrency: scenario.maxConcurrency,
      seed: scenario.seed,
      thinkUs: scenario.thinkUs ?? 0,
    });
    const { calendar, engines, journal, trips, slots, observer } = parts;
    const { log } = journal;
    const at = { calendar, log, slot: slots.passes };
    this.passes = scenario.frontEnd && new FrontEndPasses(scenario.frontEnd, at);
    this.spec = newSpec(scenario.workload.contentIds);
    const { policyWatch, onShadow } = observer;
    this.router = new Router(scenario, { engines, log, trips, policyWatch, onShadow });
    this.stages = this.router.stages;
    const { flowControl } = scenario;
    this.gate =
      flowControl &&
      new VirtualFlowGate(flowControl, scenario, {
        calendar,
        slot: slots.flow,
        log,
        policyWatch,
        generating: () => this.stages.decode.engines.length + this.stages.aggregated.engines.length,
        pass: (row, nowUs) => this.admit(row, nowUs),
        refuse: (row, nowUs) => this.endRequest(row, 'rejected', nowUs),
      });
  }

  /** Number of engines that take new requests. */
  private get entryEngines(): number {
    const { prefill, aggregated } = this.stages;
    return prefill.engines.length + aggregated.engines.length;
  }

  expectArrival(nowUs: Micros): void {
    const { calendar, slots } = this.parts;
    const dueUs = this.arrivals.nextUs(nowUs);
    if (dueUs === Infinity) calendar.clear(slots.arrivals);
    else calendar.set(slots.arrivals, dueUs, TIE.arrival);
  }

  arrive(nowUs: Micros): void {
    const row = this.arrivals.take();
    this.parts.journal.arrive(row, nowUs);
    if (this.passes === undefined) this.enqueue(row, nowUs);
    else this.passes.arrive(row, nowUs, this.entryEngines);
    this.expectArrival(nowUs);
  }

  /** A request has passed the server in front of the engines, or the one in front of decode. */
  onPassed(nowUs: Micros): void {
    const { row, isHandedOver } = this.passes!.take(nowUs);
    if (isHandedOver) this.send(row, this.router.placeDecode(row, nowUs), nowUs);
    else this.enqueue(row, nowUs);
  }

  /** Requests in the queues of flow control may proceed, or have waited too long. */
  onFlowDue(nowUs: Micros): void {
    this.gate!.releaseWaiting(nowUs);
  }

  /** An engine has become ready: it takes requests that wait. */
  onReady(engine: VirtualEngine, nowUs: Micros): void {
    this.stages[engine.pool.role].add(engine);
    this.refill(engine, nowUs);
    this.gate?.pumpAt(nowUs);
  }

  /** An engine takes no more requests: those that wait for it go to others. */
  onLeaving(engine: VirtualEngine, nowUs: Micros): void {
    const { role } = engine.pool;
    for (const row of this.stages[role].remove(engine)) {
      const isHeld = role === 'decode' && this.parts.trips.isWhole[row] === 0;
      const place = isHeld
        ? this.router.placeDecode(row, nowUs)
        : this.router.placeAgain(row, nowUs);
      this.send(row, place, nowUs);
    }
    this.gate?.pumpAt(nowUs);
  }

  /** The engine takes the requests for which it may have room again. */
  refill(engine: VirtualEngine, nowUs: Micros): void {
    const stage = this.stages[engine.pool.role];
    for (let row = stage.next(engine, nowUs); row !== NONE; row = stage.next(engine, nowUs)) {
      this.enter(row, engine, nowUs);
    }
  }

  onStep(engine: VirtualEngine, facts: StepFacts): void {
    const nowUs = facts.endUs;
    for (const handle of facts.held) this.hold(engine, handle, nowUs);
    for (const handle of facts.finished) this.finishSequence(engine, handle, nowUs);
    for (const handle of facts.rejected) this.reject(engine, handle, nowUs);
  }

  private enqueue(row: number, nowUs: Micros): void {
    if (this.gate === undefined) this.admit(row, nowUs);
    else this.gate.arrive(row, nowUs);
  }

  private admit(row: number, nowUs: Micros): void {
    const place = this.router.place(row, nowUs);
    if (typeof place === 'string') this.endRequest(row, place, nowUs);
    else this.send(row, place, nowUs);
  }

  private send(row: number, { stage, engine }: Place, nowUs: Micros): void {
    if (engine === undefined) {
      const taker = stage.share(row, nowUs);
      if (taker !== undefined) this.enter(row, taker, nowUs);
    } else {
      stage.direct(row, engine);
      this.refill(engine, nowUs);
    }
  }

  /** Moves the row into an engine that has room for it. */
  private enter(row: number, engine: VirtualEngine, nowUs: Micros): void {
    engine.interrupt(nowUs);
    const mode = this.router.modeOf(row, engine);
    if (mode === 'remote-prefill') this.fetch(row, engine, nowUs);
    else this.compute(row, engine, { mode, nowUs });
  }

  private compute(
    row: number,
    engine: VirtualEngine,
    { mode, nowUs }: { mode: SequenceSpec['mode']; nowUs: Micros },
  ): void {
    const { journal, trips } = this.parts;
    const { log } = journal;
    const handle = engine.submit(row, this.specOf(row, mode));
    if (handle === undefined) {
      this.endRequest(row, 'refused', nowUs);
      return;
    }
    engine.enter(row);
    trips.promptHandle[row] = handle;
    log.prefillEngine[row] = engine.index;
    if (mode === 'generate') log.decodeEngine[row] = engine.index;
    engine.wake(nowUs);
  }

  private fetch(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const { journal, handoffs, trips } = this.parts;
    const handle = engine.submit(row, this.specOf(row, 'remote-prefill'));
    journal.log.decodeEngine[row] = engine.index;
    if (handle === undefined) {
      handoffs.reject(row, nowUs);
      this.endRequest(row, 'refused', nowUs);
      return;
    }
    engine.enter(row);
    trips.outputHandle[row] = handle;
    engine.awaitRoom();
    handoffs.accept(row, nowUs);
    engine.wake(nowUs);
  }

  /** A step of the engine has begun, or could not begin. Starts the pulls that have room. */
  onStepBegun(engine: VirtualEngine, nowUs: Micros): void {
    while (engine.waitingForRoom > 0) {
      const reservation = engine.engine.reserveNext();
      if (reservation === undefined) return;
      const row = engine.rowOf(reservation.handle);
      engine.stopAwaitingRoom();
      engine.mayTakeMore = true;
      const isComing = this.parts.handoffs.reserve(row, reservation, nowUs);
      if (!isComing) this.loseKv(row, engine, nowUs);
    }
  }

  /**
   * The KV is lost: decode drops the request, and the prompt is computed again while runs are left.
   */
  private loseKv(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const { trips } = this.parts;
    engine.interrupt(nowUs);
    engine.engine.abort(trips.outputHandle[row]!);
    trips.outputHandle[row] = NONE;
    engine.leave(row);
    engine.wake(nowUs);
    if (trips.epochOf(row) >= this.scenario.maxRuns) {
      this.endRequest(row, 'failed', nowUs);
      return;
    }
    trips.losses[row]!++;
    this.send(row, this.router.placeAgain(row, nowUs), nowUs);
  }

  /** The prompt is computed: the engine holds its blocks, and the request goes on to decode. */
  private hold(engine: VirtualEngine, handle: SequenceHandle, nowUs: Micros): void {
    const { journal, handoffs } = this.parts;
    const row = engine.rowOf(handle);
    engine.leave(row);
    journal.log.heldUs.set(row, nowUs);
    handoffs.hold(row, nowUs);
    if (this.passes === undefined) this.send(row, this.router.placeDecode(row, nowUs), nowUs);
    else this.passes.offer(row, nowUs, this.stages.decode.engines.length);
  }

  private finishSequence(engine: VirtualEngine, handle: SequenceHandle, nowUs: Micros): void {
    const { log } = this.parts.journal;
    const row = engine.rowOf(handle);
    engine.leave(row);
    log.emittedTokens[row] = log.outputTokens[row]!;
    this.endRequest(row, 'completed', nowUs + engine.engine.tokenOffsetUs(handle));
  }

  /** Too little of the prompt was cached: the engine rejects it. */
  private reject(engine: VirtualEngine, handle: SequenceHandle, nowUs: Micros): void {
    const row = engine.rowOf(handle);
    engine.leave(row);
    this.endRequest(row, 'rejected', nowUs);
  }

  private endRequest(
    row: number,
    outcome: Parameters<Journal['endRequest']>[1],
    nowUs: Micros,
  ): void {
    const { journal, observer } = this.parts;
    journal.endRequest(row, outcome, nowUs);
    this.arrivals.endRequest(row, nowUs);
    this.router.endRequest(row);
    this.expectArrival(nowUs);
    this.gate?.endRequest(row, nowUs);
    if (observer.onEnd?.(row, journal.log) === false) this.isStopped = true;
  }

  private specOf(row: number, mode: SequenceSpec['mode']): SequenceSpec {
    const { spec } = this;
    const { workload, sloClasses, endsByEos } = this.scenario;
    spec.promptTokens = workload.promptTokens[row]!;
    const outputTokens = workload.outputTokens[row]!;
    const isHeld = mode === 'prefill-and-hold';
    spec.outputTokens = isHeld ? 1 : outputTokens;
    // A held prompt ends at its limit of one token; so does an output as long as its max_tokens.
    const isLimited = isHeld || workload.maxTokens[row] === outputTokens;
    spec.endReason = endsByEos === true && !isLimited ? 'stop' : 'length';
    spec.priority = workload.priority.length === 0 ? 0 : workload.priority[row]!;
    if (sloClasses !== undefined) spec.priority ||= sloClasses.of(row).priority;
    spec.arrivalUs = this.parts.journal.log.arrivalUs.at(row);
    spec.blockFrom = workload.contentStart[row]!;
    spec.blockCount = workload.contentStart[row + 1]! - spec.blockFrom;
    if (workload.adapter !== undefined) spec.adapter = workload.adapter.places[row]!;
    spec.requestHash = row + 1;
    spec.mode = mode;
    return spec;
  }
}

/** The single specification object, refilled for every submission. */
function newSpec(blockHashes: ArrayLike<number>): Mutable<SequenceSpec> {
  return {
    requestHash: 0,
    promptTokens: 1,
    outputTokens: 1,
    endReason: 'length',
    blockHashes,
    blockFrom: 0,
    blockCount: 0,
    priority: 0,
    arrivalUs: NOT_YET,
    mode: 'generate',
  };
}
