import { assert, InvariantError, type Micros, truncate } from '@baton/kernel';
import type { PipelineTimes } from '@baton/step-time';
import { ChunksInFlight } from './chunks-in-flight';
import type { DecodeSet } from './decode-set';
import { type Runner, type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from './sequence';

/** Several batches are in flight at once, so ranks have no common boundary. */
const NO_LOCKSTEP = 'an engine with pipeline stages runs in no lockstep';

/** A batch in the stages; the object is reused after its end. */
class Flight {
  formedUs: Micros = 0;
  endUs: Micros = 0;
  readonly chunks = new ChunksInFlight();

  constructor(readonly set: DecodeSet) {}
}

/**
 * Steps of an engine with pipeline stages, as vLLM's `EngineCore.step_with_batch_queue` takes them.
 * As many batches as there are stages are in flight. Whenever the oldest has ended, batches are
 * formed until the pipeline is full again or nothing more can run. No batch is formed in between,
 * so new requests wait for the end of the oldest. A batch occupies one stage after the other, each
 * as soon as it has arrived and the batch before has left. The step under way is the one of the
 * oldest batch.
 */
export class PipelineRunner implements Runner {
  private readonly pipeline: PipelineTimes;
  /** Oldest first. */
  private readonly flying: Flight[] = [];
  private readonly idle: Flight[];
  /** The batch that ended last; undefined when the step had none. */
  private ended: Flight | undefined;
  /** The time at which each stage ends its last batch, µs with a fraction. */
  private readonly freeUs: Float64Array;
  /** Times of the batch being formed. */
  private readonly timesUs: Float64Array;
  private readonly promptsDone: EngineSequence[] = [];
  readonly hasFormed = false;
  private startUs: Micros = 0;
  private endUs: Micros = 0;
  private underWay = false;

  constructor(private readonly parts: RunnerParts) {
    const { options, decode } = parts;
    const { stepTime, speculation, hostTier } = options;
    assert(stepTime.pipeline !== undefined, 'the step times are not those of a pipeline');
    assert(speculation === undefined, 'a pipeline does not draft');
    assert(hostTier === undefined, 'a pipeline loads no KV from host memory');
    this.pipeline = stepTime.pipeline;
    this.idle = decode.all.map((set) => new Flight(set));
    this.freeUs = new Float64Array(this.pipeline.stages);
    this.timesUs = new Float64Array(2 * this.pipeline.stages - 1);
  }

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

  begin(startUs: Micros): Micros | undefined {
    const { record } = this.parts;
    assert(!this.underWay, 'a step is under way already');
    if (record.isRead) record.clear();
    while (this.idle.length > 0 && this.launch(startUs)) {
      // Repeats until the pipeline is full or nothing more can run.
    }
    const [oldest] = this.flying;
    if (oldest === undefined && !record.hasDismissed) return undefined;
    this.startUs = startUs;
    this.underWay = true;
    // After a pause of the caller, batches that ended before are handled here.
    this.endUs = Math.max(oldest?.endUs ?? 0, startUs + 1);
    return this.endUs;
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

  completeLast(): void {
    const { decode, accounts, record } = this.parts;
    this.ended = this.flying.shift();
    if (this.ended !== undefined) {
      this.idle.push(this.ended);
      decode.current = this.ended.set;
      decode.current.advance();
      accounts.generatedTokens += decode.current.size;
    }
    accounts.steps++;
    this.underWay = false;
    record.isRead = true;
    record.startUs = this.startUs;
    record.formedUs = this.ended?.formedUs ?? this.startUs;
    record.endUs = this.endUs;
    record.steps = 1;
  }

  nextFinished(): EngineSequence | undefined {
    const { current } = this.parts.decode;
    const seq = current.takeFinished();
    if (seq !== undefined) current.leave(seq);
    return seq;
  }

  tokensInFlight(): number {
    return 0;
  }

  endChunks(): readonly EngineSequence[] {
    const { ended, promptsDone } = this;
    truncate(promptsDone, 0);
    if (ended === undefined) return promptsDone;
    const { former, accounts } = this.parts;
    const { prompts, ranks, reached } = ended.chunks;
    for (let i = 0; i < prompts.length; i++) {
      const seq = prompts[i]!;
      if (seq.state !== 'prefilling' || seq.rank !== ranks[i]) continue;
      accounts.computed(seq, reached[i]!);
      seq.inFlight = seq.computed - reached[i]!;
      if (reached[i]! < seq.targetTokens) continue;
      former.batch.drop(seq);
      promptsDone.push(seq);
    }
    return promptsDone;
  }

  boundaryUs(step: number): Micros {
    assert(!this.underWay && step === 1, 'no such step has ended');
    return this.endUs;
  }

  blocksTakenBy(): number {
    return 0;
  }

  /** Forms a batch and sends it into the pipeline; false when nothing can run. */
  private launch(startUs: Micros): boolean {
    const { former, decode } = this.parts;
    const flight = this.idle.splice(this.nextIdle(), 1)[0]!;
    decode.current = flight.set;
    // Sequences that left with the previous batch may make room for others.
    former.touch();
    if (!former.form(startUs)) {
      this.idle.push(flight);
      return false;
    }
    flight.formedUs = startUs;
    flight.endUs = this.passStages(startUs);
    flight.chunks.load(former.batch.prefilling);
    this.flying.push(flight);
    return true;
  }

  /** A set whose output has arrived goes first; there is at most one. */
  private nextIdle(): number {
    const own = this.idle.findIndex(({ set }) => set.size > 0);
    return own < 0 ? 0 : own;
  }

  /** Takes the batch through the stages and returns when it leaves the last one. */
  private passStages(startUs: Micros): Micros {
    const { freeUs, timesUs, parts } = this;
    const batch = parts.former.batch.aggregates();
    this.pipeline.fill(batch, timesUs);
    const factor = warmupFactor(parts) * (parts.scatter?.next(batch.prefillTokens > 0) ?? 1);
    let atUs = startUs;
    for (let stage = 0; stage < freeUs.length; stage++) {
      const spanUs = Math.max(1, timesUs[2 * stage]! * factor);
      atUs = freeUs[stage] = Math.max(atUs, freeUs[stage]!) + spanUs;
      if (stage + 1 < freeUs.length) atUs += timesUs[2 * stage + 1]!;
    }
    return Math.round(atUs);
  }
}
