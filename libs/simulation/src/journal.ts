import {
  type ByteStore,
  IntervalHistogram,
  outcomeCode,
  type Outcome,
  RequestLog,
} from '@baton/analysis';
import type { LaterSteps, SequenceHandle, StepFacts } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import { RequestMeter } from './request-meter';
import type { ClusterScenario } from './scenario';
import type { VirtualEngine } from './virtual-engine';

const CODES = {
  completed: outcomeCode('completed'),
  rejected: outcomeCode('rejected'),
  refused: outcomeCode('refused'),
  failed: outcomeCode('failed'),
} as const;

interface Interrupted {
  readonly handle: SequenceHandle;
  readonly row: number;
  /** Its tokens so far, and the instant of the last one. */
  readonly tokens: number;
  readonly lastUs: Micros;
}

/**
 * Records the outcome of steps. A decoding request gets a token at every step boundary of its
 * engine. So the gaps between tokens are the lengths of steps, counted once for each running
 * request. With pipeline stages they are the times from one batch of the same requests to the next.
 * Only preempted requests have other gaps.
 */
export class Journal {
  readonly log: RequestLog;
  readonly itl = new IntervalHistogram();
  ended = 0;
  /** Undefined when no autoscaler reads it. */
  readonly meter: RequestMeter | undefined;
  /** By engine: preempted requests without a token since. */
  private readonly interrupted: Interrupted[][] = [];

  constructor(
    {
      workload,
      frontEnd,
      scaling,
      flowControl,
    }: Pick<ClusterScenario, 'workload' | 'frontEnd' | 'scaling' | 'flowControl'>,
    store: ByteStore | undefined,
  ) {
    this.log = new RequestLog(workload.count, {
      lengths: workload,
      hasFrontEnd: frontEnd !== undefined,
      hasFlowControl: flowControl !== undefined,
      store,
    });
    this.meter = scaling && new RequestMeter(this.log, this.itl);
  }

  arrive(row: number, atUs: Micros): void {
    this.log.arrivalUs.set(row, atUs);
    this.meter?.onArrived();
  }

  endRequest(row: number, outcome: Exclude<Outcome, 'unfinished'>, atUs: Micros): void {
    this.log.outcome[row] = CODES[outcome];
    if (outcome === 'completed') {
      this.log.finishUs.set(row, atUs);
      this.meter?.onFinished(row);
    }
    this.ended++;
  }

  /**
   * Notes the beginnings, first tokens and token gaps of a step, and returns its tokens; the driver
   * notes ends.
   */
  note(engine: VirtualEngine, facts: StepFacts): number {
    for (const handle of facts.scheduled) this.noteStart(engine, handle, facts.startUs);
    const { later, firstEndUs } = facts;
    for (const handle of facts.firstTokens) this.noteFirst(engine, handle, firstEndUs);
    const secondEndUs = firstEndUs + later.firstUs;
    for (const handle of later.firstTokens) this.noteFirst(engine, handle, secondEndUs);
    if (facts.preempted.length > 0) this.notePreempted(engine, facts);
    for (const handle of facts.rejected) this.forget(engine, handle);
    return this.noteGaps(engine, facts);
  }

  private noteStart(engine: VirtualEngine, handle: SequenceHandle, startUs: Micros): void {
    const { log } = this;
    const row = engine.rowOf(handle);
    if (log.prefillEngine[row] === engine.index && log.prefillStartUs.at(row) < 0) {
      log.prefillStartUs.set(row, startUs);
      log.cachedTokens[row] = engine.engine.cachedTokens(handle);
    }
  }

  private noteFirst(engine: VirtualEngine, handle: SequenceHandle, atUs: Micros): void {
    const { firstTokenUs } = this.log;
    const row = engine.rowOf(handle);
    // After a return to prefill the request already has its first token.
    if (firstTokenUs.at(row) >= 0) return;
    firstTokenUs.set(row, atUs + engine.engine.tokenOffsetUs(handle));
    this.meter?.onFirstToken(row);
  }

  private noteGaps(engine: VirtualEngine, facts: StepFacts): number {
    const { generatedTokens } = engine.engine.counters;
    const emitted = generatedTokens - engine.generatedBefore;
    if (emitted === 0) return 0;
    engine.generatedBefore = generatedTokens;
    const { later, startUs, endUs, firstEndUs } = facts;
    const { steps, tokens } = later;
    if (steps > 0 && later.continue && facts.firstTokens.length === 0) {
      this.itl.addLinear(firstEndUs - startUs, endUs - startUs, 1 + steps, tokens);
      return emitted;
    }
    this.noteFirstGaps(engine, facts, emitted - steps * tokens);
    if (steps > 0) this.noteLaterGaps(later);
    return emitted;
  }

  private noteLaterGaps({
    steps,
    tokens,
    firstUs,
    secondUs,
    spanUs,
    firstTokens,
  }: LaterSteps): void {
    if (firstTokens.length === 0) {
      this.itl.addLinear(firstUs, spanUs, steps, tokens);
      return;
    }
    this.itl.add(firstUs, tokens - firstTokens.length);
    this.itl.addLinear(secondUs, spanUs - firstUs, steps - 1, tokens);
  }

  /** Records the gaps of a step, or of the first of several. */
  private noteFirstGaps(engine: VirtualEngine, facts: StepFacts, emitted: number): void {
    const resumed = this.noteResumed(engine, facts.firstEndUs);
    // A client gets the tokens of a burst at once: one gap for any number of them.
    const speculates = engine.pool.options.speculation !== undefined;
    const comings = speculates ? facts.emitted.length : emitted;
    const gapUs = facts.firstEndUs - facts.previousUs;
    this.itl.add(gapUs, comings - facts.firstTokens.length - resumed);
  }

  private notePreempted(engine: VirtualEngine, facts: StepFacts): void {
    const list = (this.interrupted[engine.index] ??= []);
    for (const handle of facts.preempted) {
      const row = engine.rowOf(handle);
      this.log.preemptions[row]!++;
      const tokens = engine.engine.tokensEmitted(handle);
      const hasToken = facts.preemptedWithToken.includes(handle);
      const lastUs = hasToken ? facts.endUs : facts.startUs;
      if (tokens > 0) list.push({ handle, row, tokens, lastUs });
    }
  }

  /** A preempted request that is rejected gets no further token. */
  private forget(engine: VirtualEngine, handle: SequenceHandle): void {
    const list = this.interrupted[engine.index] ?? [];
    const at = list.findIndex((one) => one.handle === handle);
    if (at >= 0) list.splice(at, 1);
  }

  /** Notes the gaps of requests that got a token again; returns their number. */
  private noteResumed(engine: VirtualEngine, endUs: Micros): number {
    const list = this.interrupted[engine.index];
    if (list === undefined || list.length === 0) return 0;
    const waiting = list.filter((one) => {
      const isOver = engine.rowOf(one.handle) !== one.row;
      return !isOver && engine.engine.tokensEmitted(one.handle) === one.tokens;
    });
    const resumed = list.length - waiting.length;
    for (const one of list) if (!waiting.includes(one)) this.itl.add(endUs - one.lastUs);
    this.interrupted[engine.index] = waiting;
    return resumed;
  }
}
