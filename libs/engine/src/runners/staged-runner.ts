import { assert, InvariantError, type Micros } from '@baton/kernel';
import type { Runner, RunnerParts } from './runner';
import type { EngineSequence } from '../sequence';
import { pipelineOf, StagePasses } from './stage-passes';

/** Several batches are in flight at once, so ranks have no common boundary. */
const NO_LOCKSTEP = 'an engine with pipeline stages runs in no lockstep';

/**
 * What the runners of engines with pipeline stages have in common: several batches are in flight at
 * once, and the step under way is the one of the oldest.
 */
export abstract class StagedRunner implements Runner {
  protected readonly passes: StagePasses;
  protected readonly stages: number;
  protected startUs: Micros = 0;
  protected endUs: Micros = 0;
  protected underWay = false;

  constructor(protected readonly parts: RunnerParts) {
    const pipeline = pipelineOf(parts);
    this.stages = pipeline.stages;
    this.passes = new StagePasses(parts, pipeline);
  }

  abstract readonly hasFormed: boolean;
  abstract begin(startUs: Micros): Micros | undefined;
  abstract completeLast(): void;
  abstract nextFinished(): EngineSequence | undefined;
  abstract endChunks(): readonly EngineSequence[];
  abstract tokensInFlight(seq: EngineSequence): number;

  get isUnderWay(): boolean {
    return this.underWay;
  }

  assertMayChange(): void {
    // One step is under way at a time, and every change takes effect with the next one.
  }

  form(): never {
    throw new InvariantError(NO_LOCKSTEP);
  }

  endBeside(): never {
    throw new InvariantError(NO_LOCKSTEP);
  }

  endAt(): never {
    throw new InvariantError(NO_LOCKSTEP);
  }

  extend(): Micros {
    return this.endUs;
  }

  cut(): Micros {
    return this.endUs;
  }

  completeAllButLast(): void {
    assert(this.underWay, 'no step is under way');
  }

  boundaryUs(step: number): Micros {
    assert(!this.underWay && step === 1, 'no such step has ended');
    return this.endUs;
  }

  blocksTakenBy(): number {
    return 0;
  }

  /** After a pause of the caller, batches that ended before end now. */
  protected beginStep(startUs: Micros, batchEndUs: Micros): Micros {
    this.startUs = startUs;
    this.underWay = true;
    this.endUs = Math.max(batchEndUs, startUs + 1);
    return this.endUs;
  }

  /** @param previousUs  as in `StepFacts`; undefined when the step had no batch */
  protected endStep(tokens: number, previousUs: Micros | undefined): void {
    const { accounts, record } = this.parts;
    accounts.generatedTokens += tokens;
    accounts.steps++;
    this.underWay = false;
    record.isRead = true;
    record.startUs = this.startUs;
    record.previousUs = previousUs ?? this.startUs;
    record.endUs = this.endUs;
    record.steps = 1;
  }
}
