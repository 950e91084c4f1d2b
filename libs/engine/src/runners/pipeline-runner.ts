import { assert, type Micros, truncate } from '@baton/kernel';
import { ChunksInFlight } from './chunks-in-flight';
import type { DecodeSet } from '../decode-set';
import type { RunnerParts } from './runner';
import type { EngineSequence } from '../sequence';
import { StagedRunner } from './staged-runner';

/** A batch in the stages; the object is reused after its end. */
class Flight {
  previousUs: Micros = 0;
  endUs: Micros = 0;
  readonly chunks = new ChunksInFlight();

  constructor(readonly set: DecodeSet) {}
}

/**
 * Steps of an engine with pipeline stages and without async scheduling, as vLLM's
 * `EngineCore.step_with_batch_queue` takes them. Its queue has a place for each stage. Whenever the
 * oldest batch has ended, batches are formed until the queue is full. No batch is formed in
 * between, so new requests wait for the end of the oldest.
 *
 * A batch without tokens also takes a place, and leaves it at once when it is the oldest. Until
 * then fewer batches are in flight than there are stages.
 */
export class PipelineRunner extends StagedRunner {
  /** Oldest first. Undefined: a batch without tokens. */
  private readonly queue: (Flight | undefined)[] = [];
  private readonly idle: Flight[];
  /** The batch that ended last; undefined when the step had none. */
  private ended: Flight | undefined;
  private readonly promptsDone: EngineSequence[] = [];
  readonly hasFormed = false;

  constructor(parts: RunnerParts) {
    super(parts);
    this.idle = parts.decode.all.map((set) => new Flight(set));
  }

  begin(startUs: Micros): Micros | undefined {
    const { record } = this.parts;
    assert(!this.underWay, 'a step is under way already');
    if (record.isRead) record.clear();
    this.fill(startUs);
    const [oldest] = this.queue;
    if (oldest === undefined && !record.hasDismissed) return undefined;
    return this.beginStep(startUs, oldest?.endUs ?? 0);
  }

  completeLast(): void {
    const { decode } = this.parts;
    this.ended = this.queue.shift();
    if (this.ended !== undefined) {
      this.idle.push(this.ended);
      decode.current = this.ended.set;
      decode.current.advance();
    }
    this.endStep(this.ended?.set.size ?? 0, this.ended?.previousUs);
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

  /** Forms batches until the queue is full and begins with one that has tokens, or is empty. */
  private fill(startUs: Micros): void {
    const { queue, stages } = this;
    while (queue.length < stages) queue.push(this.launch(startUs));
    for (let dropped = 0; dropped < stages && queue[0] === undefined; dropped++) {
      queue.shift();
      queue.push(this.launch(startUs));
    }
    if (queue[0] === undefined) truncate(queue, 0);
  }

  /** Forms a batch and sends it into the pipeline. Undefined: nothing can run. */
  private launch(startUs: Micros): Flight | undefined {
    const { former, decode } = this.parts;
    const flight = this.idle.splice(this.nextIdle(), 1)[0]!;
    decode.current = flight.set;
    // Sequences that left with the previous batch may make room for others.
    former.touch();
    if (!former.form(startUs)) {
      this.idle.push(flight);
      return undefined;
    }
    flight.previousUs = startUs;
    flight.endUs = this.passes.endUs(startUs);
    flight.chunks.load(former.batch.prefilling);
    return flight;
  }

  /** A set whose output has arrived goes first; there is at most one. */
  private nextIdle(): number {
    const own = this.idle.findIndex(({ set }) => set.size > 0);
    return own < 0 ? 0 : own;
  }
}
