import { assert, type Micros } from '@baton/kernel';
import { ChunksInFlight } from './chunks-in-flight';
import { CountedAhead } from './counted-ahead';
import type { RunnerParts } from './runner';
import type { EngineSequence } from '../sequence';
import { StagedRunner } from './staged-runner';

/** A place in the queue of batches, which is empty when nothing could run. */
class Flight {
  isFormed = false;
  previousUs: Micros = 0;
  endUs: Micros = 0;
  readonly chunks = new ChunksInFlight();
}

/**
 * Steps of an engine with pipeline stages and async scheduling, as vLLM's
 * `EngineCore.step_with_batch_queue` takes them with an `AsyncScheduler` and Model Runner V2. The
 * queue has one place more than there are stages. Batch n belongs to decode set n modulo the number
 * of stages: a sequence runs again that many batches later (`next_decode_eligible_step`), with a
 * placeholder for the token of the batch in flight. When a step begins, the batch behind the last
 * one is formed, which belongs to the set of that step.
 *
 * An empty batch also takes a place, and leaves it at once when it is the oldest.
 */
export class AsyncPipelineRunner extends StagedRunner {
  private readonly flights: readonly Flight[];
  /** Number of the oldest batch in the queue, and of the next one to form. */
  private oldest = 0;
  private next = 0;
  private readonly step: CountedAhead;

  constructor(parts: RunnerParts) {
    super(parts);
    this.flights = Array.from({ length: this.stages + 1 }, () => new Flight());
    this.step = new CountedAhead(parts);
    parts.former.formsAhead = true;
  }

  get hasFormed(): boolean {
    for (let n = this.oldest; n < this.next; n++) if (this.flightOf(n).isFormed) return true;
    return false;
  }

  begin(startUs: Micros): Micros | undefined {
    const { record, decode } = this.parts;
    assert(!this.underWay, 'a step is under way already');
    if (record.isRead) record.clear();
    this.fill(startUs);
    const flight = this.flightOf(this.oldest);
    this.step.clear();
    decode.current = this.setOf(this.oldest);
    if (!flight.isFormed) return record.hasDismissed ? this.beginStep(startUs, 0) : undefined;
    this.beginStep(startUs, flight.endUs);
    this.step.count(flight.chunks);
    this.formNext(startUs);
    return this.endUs;
  }

  completeLast(): void {
    const { step } = this;
    const flight = this.flightOf(this.oldest);
    if (!flight.isFormed) return this.endStep(0, undefined);
    this.endStep(step.tokens(), flight.previousUs);
    step.noteFirstTokens();
    step.countChunks(flight.chunks);
    this.oldest++;
  }

  nextFinished(): EngineSequence | undefined {
    return this.step.nextFinished();
  }

  endChunks(): readonly EngineSequence[] {
    return this.step.held;
  }

  tokensInFlight(seq: EngineSequence): number {
    return this.underWay ? this.step.tokensInFlight(seq) : 0;
  }

  /** Forms a batch of every set that has none in the queue, and drops empty ones that are next. */
  private fill(startUs: Micros): void {
    while (this.next < this.oldest + this.stages) this.formNext(startUs);
    const isEmpty = (): boolean => !this.flightOf(this.oldest).isFormed;
    for (let dropped = 0; dropped < this.stages && isEmpty(); dropped++) {
      this.oldest++;
      this.formNext(startUs);
    }
  }

  private formNext(startUs: Micros): void {
    const { former, decode } = this.parts;
    const flight = this.flightOf(this.next);
    decode.current = this.setOf(this.next);
    this.next++;
    // Sequences that left with an earlier batch may make room for others.
    former.touch();
    flight.isFormed = former.form(startUs, true);
    if (!flight.isFormed) return;
    // Rows that decode need the tokens of the step under way.
    const fromUs = decode.current.size > 0 ? Math.max(startUs, this.endUs) : startUs;
    flight.previousUs = fromUs;
    flight.endUs = this.passes.endUs(fromUs);
    flight.chunks.load(former.batch.prefilling);
  }

  private flightOf(batch: number): Flight {
    return this.flights[batch % this.flights.length]!;
  }

  private setOf(batch: number): RunnerParts['decode']['current'] {
    return this.parts.decode.all[batch % this.stages]!;
  }
}
