import type { Micros } from '@baton/kernel';
import type { StepTimeModel } from '@baton/step-time';
import { Engine } from '../src/engine';
import type { EngineOptions } from '../src/port/engine-options';
import type { Reservation, SequenceHandle, SequenceSpec, StepFacts } from '../src/port/engine-port';

/**
 * 1000 µs per step, plus 10 per prompt token and 1 per token of context, so that a step's time
 * shows its batch.
 */
export const READABLE: StepTimeModel = {
  description: 'readable',
  stepUs: (b) => 1000 + 10 * b.prefillTokens + b.decodeContext,
  decodeLaw: () => ({ baseUs: 1000, perContextUs: 1, contextLimit: Infinity }),
};

/** The facts of one step, by the names of the sequences. */
export interface StepSeen {
  readonly previousUs: Micros;
  readonly endUs: Micros;
  readonly steps: number;
  readonly scheduled: string[];
  readonly emitted: string[];
  readonly firstTokens: string[];
  readonly held: string[];
  readonly finished: string[];
  readonly preempted: string[];
  readonly rejected: string[];
}

/** An engine for specs, with named sequences and driven step by step. */
export class TestEngine {
  readonly engine: Engine;
  nowUs: Micros = 0;
  private isStepping = false;
  private readonly names = new Map<SequenceHandle, string>();
  private readonly handles = new Map<string, SequenceHandle>();

  constructor(options: Partial<EngineOptions> = {}) {
    this.engine = new Engine({
      maxNumSeqs: 8,
      maxNumBatchedTokens: 64,
      blockSize: 4,
      numBlocks: 100,
      maxModelLen: 1000,
      longPrefillTokenThreshold: 0,
      enablePrefixCaching: true,
      enableChunkedPrefill: true,
      schedulingPolicy: 'fcfs',
      stepTime: READABLE,
      seed: 1,
      warmupPenaltyPercent: 0,
      warmupSteps: 0,
      ...options,
    });
  }

  /** Submits a sequence, by default of 8 prompt and 4 output tokens. */
  submit(name: string, spec: Partial<SequenceSpec> = {}): SequenceHandle {
    const admission = this.engine.submit(specOf(name, spec));
    if (admission.kind === 'refused') return -1;
    this.names.set(admission.handle, name);
    this.handles.set(name, admission.handle);
    return admission.handle;
  }

  handle(name: string): SequenceHandle {
    return this.handles.get(name)!;
  }

  /**
   * The name of the next reservation with its missing tokens; begins a step for it unless one is
   * under way.
   */
  reserve(): string | undefined {
    const reservation = this.nextReservation();
    if (reservation === undefined) return undefined;
    return `${this.names.get(reservation.handle)} lacks ${reservation.missingTokens}`;
  }

  /** Like `reserve`; returns its missing blocks. */
  reserveBlocks(): number | undefined {
    return this.nextReservation()?.missingBlocks;
  }

  private nextReservation(): Reservation | undefined {
    const reservation = this.engine.reserveNext();
    return reservation ?? (this.begin() ? this.engine.reserveNext() : undefined);
  }

  /** Runs one step, or with `untilUs` as many as reach it; undefined when nothing can run. */
  step(untilUs?: Micros): StepSeen | undefined {
    if (!this.isStepping) this.begin();
    if (!this.isStepping) return undefined;
    if (untilUs !== undefined) this.engine.advanceTo(this.engine.nextUs(untilUs));
    return this.endStep();
  }

  /** Tries to begin a step; false when one is under way. */
  begin(): boolean {
    if (this.isStepping) return false;
    this.isStepping = this.engine.beginStep(this.nowUs) !== undefined;
    return true;
  }

  /** Ends the step under way. */
  endStep(): StepSeen {
    this.isStepping = false;
    const told = this.record(this.engine.endStep());
    this.nowUs = told.endUs;
    this.engine.audit();
    return told;
  }

  /** Steps until nothing runs; returns the facts of all steps. */
  runToRest(): StepSeen[] {
    const all: StepSeen[] = [];
    for (let told = this.step(); told !== undefined; told = this.step()) all.push(told);
    return all;
  }

  private record(facts: StepFacts): StepSeen {
    const name = (handles: readonly SequenceHandle[]) =>
      handles.map((handle) => this.names.get(handle)!);
    return {
      previousUs: facts.previousUs,
      endUs: facts.endUs,
      steps: 1 + facts.later.steps,
      scheduled: name(facts.scheduled),
      emitted: name(facts.emitted).sort(),
      firstTokens: name(facts.firstTokens),
      held: name(facts.held),
      finished: name(facts.finished),
      preempted: name(facts.preempted),
      rejected: name(facts.rejected),
    };
  }
}

export function specOf(requestId: string, spec: Partial<SequenceSpec> = {}): SequenceSpec {
  return {
    requestId,
    promptTokens: 8,
    outputTokens: 4,
    endReason: 'stop',
    blockHashes: [],
    priority: 0,
    arrivalUs: 0,
    mode: 'generate',
    ...spec,
  };
}
