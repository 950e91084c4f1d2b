import type { SequenceHandle, SequenceSpec, StepFacts } from '@baton/engine';
import type { FetchFailure, ReleaseReason } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import type { EngineRole } from '@baton/policies';
import { Arrivals } from './arrivals';
import { type Calendar, TIE } from './calendar';
import { VirtualFlowGate } from './flow/virtual-flow-gate';
import { FrontEndPasses } from './front-end-passes';
import type { Handoffs } from './handoffs';
import type { Journal } from './journal';
import { Router } from './router';
import type { ClusterScenario, RunObserver } from './scenario';
import type { VirtualStage } from './stage';
import type { VirtualEngine } from './virtual-engine';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Stands for the handle of a request that is not in the engine. */
const NO_HANDLE = -1;

export interface LifecycleParts {
  readonly engines: readonly VirtualEngine[];
  readonly calendar: Calendar;
  readonly journal: Journal;
  readonly handoffs: Handoffs;
  readonly slots: { readonly arrivals: number; readonly passes: number; readonly flow: number };
  readonly onEnd: (row: number) => void;
  readonly policyWatch: RunObserver['policyWatch'];
  readonly onShadow: RunObserver['onShadow'];
}

/**
 * The life of the requests: each method is one transition, from arrival through prompt, hand-over
 * and decode to the end.
 */
export class Lifecycle {
  private readonly router: Router;
  private readonly arrivals: Arrivals;
  /** Undefined without a front end. */
  private readonly passes: FrontEndPasses | undefined;
  /** Undefined without flow control. */
  private readonly gate: VirtualFlowGate | undefined;
  /**
   * By row: its sequence on the engine that computes the prompt, and on the one that generates
   * after a hand-over.
   */
  private readonly promptHandle: Int32Array;
  private readonly outputHandle: Int32Array;
  /** Rows whose blocks on decode are not reserved yet. */
  private readonly awaitsRoom: Uint8Array;
  private readonly spec: Mutable<SequenceSpec>;

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: LifecycleParts,
  ) {
    const { count } = scenario.workload;
    this.promptHandle = new Int32Array(count).fill(NO_HANDLE);
    this.outputHandle = new Int32Array(count).fill(NO_HANDLE);
    this.awaitsRoom = new Uint8Array(count);
    this.arrivals = new Arrivals(scenario.workload, {
      maxConcurrency: scenario.maxConcurrency,
      seed: scenario.seed,
      thinkUs: scenario.thinkUs ?? 0,
    });
    const { calendar, journal, slots } = parts;
    const at = { calendar, log: journal.log, slot: slots.passes };
    this.passes = scenario.frontEnd && new FrontEndPasses(scenario.frontEnd, at);
    this.spec = newSpec(scenario.workload.contentIds);
    this.router = new Router(scenario, {
      engines: parts.engines,
      policyWatch: parts.policyWatch,
      onShadow: parts.onShadow,
      ageUs: (row, nowUs) => nowUs - journal.log.arrivalUs.at(row),
      enter: (row, engine, nowUs) => this.enter(row, engine, nowUs),
    });
    const { flowControl } = scenario;
    this.gate =
      flowControl &&
      new VirtualFlowGate(flowControl, scenario, {
        calendar,
        slot: slots.flow,
        log: journal.log,
        policyWatch: parts.policyWatch,
        generating: () => this.stages.decode.engines.length + this.stages.aggregated.engines.length,
        pass: (row, nowUs) => this.admit(row, nowUs),
        refuse: (row, nowUs) => this.endRequest(row, 'rejected', nowUs),
      });
  }

  get stages(): Readonly<Record<EngineRole, VirtualStage>> {
    return this.router.stages;
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
    if (this.passes === undefined) this.place(row, nowUs);
    else this.passes.arrive(row, nowUs, this.entryEngines);
    this.expectArrival(nowUs);
  }

  /** A request has passed the server in front of the engines, or the one in front of decode. */
  onPassed(nowUs: Micros): void {
    const { row, isHandedOver } = this.passes!.take(nowUs);
    if (isHandedOver) this.router.placeDecode(row, nowUs);
    else this.place(row, nowUs);
  }

  /** Requests in the queues of flow control may proceed, or have waited too long. */
  onFlowDue(nowUs: Micros): void {
    this.gate!.releaseWaiting(nowUs);
  }

  /** An engine has become ready or leaves. */
  onCapacity(nowUs: Micros): void {
    this.gate?.pumpAt(nowUs);
  }

  onStep(engine: VirtualEngine, facts: StepFacts): void {
    const nowUs = facts.endUs;
    for (const handle of facts.held) this.hold(engine, handle, nowUs);
    for (const handle of facts.finished) this.finishSequence(engine, handle, nowUs);
    for (const handle of facts.rejected) this.reject(engine, handle, nowUs);
  }

  onOffered(row: number, nowUs: Micros): void {
    if (this.passes === undefined) this.router.placeDecode(row, nowUs);
    else this.passes.offer(row, nowUs, this.stages.decode.engines.length);
  }

  onTransferStarted(row: number, nowUs: Micros): void {
    this.parts.journal.log.transferStartUs.set(row, nowUs);
  }

  onKvReady(row: number, tokens: number, nowUs: Micros): void {
    const { log } = this.parts.journal;
    const engine = this.parts.engines[log.decodeEngine[row]!]!;
    log.transferEndUs.set(row, nowUs);
    log.transferredTokens[row] = tokens;
    if (tokens === 0) log.transferStartUs.set(row, nowUs);
    engine.kvArrived(this.outputHandle[row]!, nowUs);
  }

  /**
   * The KV is lost: decode drops the request, and the prompt is computed again while runs are left.
   */
  onKvFailed(row: number, _why: FetchFailure, nowUs: Micros): void {
    const { journal, engines, handoffs } = this.parts;
    const engine = engines[journal.log.decodeEngine[row]!]!;
    if (this.outputHandle[row] === NO_HANDLE) return;
    engine.interrupt(nowUs);
    engine.engine.abort(this.outputHandle[row]!);
    this.outputHandle[row] = NO_HANDLE;
    engine.leave(row);
    if (this.awaitsRoom[row] === 1) engine.stopAwaitingRoom();
    this.awaitsRoom[row] = 0;
    engine.wake(nowUs);
    if (handoffs.runsOf(row) >= this.scenario.maxRuns) {
      this.endRequest(row, 'failed', nowUs);
      return;
    }
    handoffs.startOver(row);
    this.router.placePrompt(row, nowUs);
  }

  onReleased(
    engine: VirtualEngine,
    row: number,
    { reason, nowUs }: { reason: ReleaseReason; nowUs: Micros },
  ): void {
    if (reason === 'expired') engine.leaseExpiries++;
    engine.interrupt(nowUs);
    engine.engine.releaseHeld(this.promptHandle[row]!);
    engine.wake(nowUs);
  }

  private place(row: number, nowUs: Micros): void {
    if (this.gate === undefined) this.admit(row, nowUs);
    else this.gate.arrive(row, nowUs);
  }

  private admit(row: number, nowUs: Micros): void {
    const refusal = this.router.place(row, nowUs);
    if (refusal !== undefined) this.endRequest(row, refusal, nowUs);
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
    const { log } = this.parts.journal;
    const handle = engine.submit(row, this.specOf(row, mode));
    if (handle === undefined) {
      this.endRequest(row, 'refused', nowUs);
      return;
    }
    engine.enter(row);
    this.promptHandle[row] = handle;
    log.prefillEngine[row] = engine.index;
    if (mode === 'generate') log.decodeEngine[row] = engine.index;
    engine.wake(nowUs);
  }

  private fetch(row: number, engine: VirtualEngine, nowUs: Micros): void {
    const { journal, handoffs } = this.parts;
    const handle = engine.submit(row, this.specOf(row, 'remote-prefill'));
    journal.log.decodeEngine[row] = engine.index;
    if (handle === undefined) {
      handoffs.rejected(row, engine, nowUs);
      this.endRequest(row, 'refused', nowUs);
      return;
    }
    engine.enter(row);
    this.outputHandle[row] = handle;
    this.awaitsRoom[row] = 1;
    engine.awaitRoom();
    handoffs.accepted(row, engine, nowUs);
    handoffs.settle(engine.index);
    engine.wake(nowUs);
  }

  /** A step of the engine has begun, or could not begin. Starts the pulls that have room. */
  onStepBegun(engine: VirtualEngine, nowUs: Micros): void {
    while (engine.waitingForRoom > 0) {
      const reservation = engine.engine.reserveNext();
      if (reservation === undefined) return;
      const row = engine.rowOf(reservation.handle);
      this.awaitsRoom[row] = 0;
      engine.stopAwaitingRoom();
      engine.mayTakeMore = true;
      this.parts.handoffs.reserved(row, reservation, nowUs);
    }
  }

  private hold(engine: VirtualEngine, handle: SequenceHandle, nowUs: Micros): void {
    const { journal, handoffs } = this.parts;
    const row = engine.rowOf(handle);
    engine.leave(row);
    journal.log.heldUs.set(row, nowUs);
    handoffs.held(row, engine, { tokens: journal.log.promptTokens[row]!, nowUs });
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
    this.parts.journal.endRequest(row, outcome, nowUs);
    this.arrivals.endRequest(row, nowUs);
    this.router.endRequest(row);
    this.expectArrival(nowUs);
    this.gate?.endRequest(row, nowUs);
    this.parts.onEnd(row);
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
    arrivalUs: 0,
    mode: 'generate',
  };
}
