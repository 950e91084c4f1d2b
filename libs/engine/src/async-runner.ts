import { assert, type Micros, truncate } from '@baton/kernel';
import { emptySums } from './batch';
import { ChunksInFlight } from './chunks-in-flight';
import { LaidRunner } from './laid-runner';
import type { StepShare } from './lockstep/lockstep';
import { type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from './sequence';

/**
 * The batch of the next step, as it was formed. When a sequence leaves before the step, its row
 * stays in the batch and its output is dropped.
 */
class FormedBatch {
  isFormed = false;
  /** Whether the batch only decodes. */
  isPure = false;
  /** Version of the decode set. */
  version = -1;
  loadUs = 0;
  readonly sums = emptySums();
}

/**
 * Steps of an engine with async scheduling, as vLLM's `EngineCore.step_with_batch_queue` takes them
 * with an `AsyncScheduler` and two batches in flight. When a step begins, the next batch is formed
 * at once, from the results of the step before and placeholders for the tokens of the step under
 * way. So the sequences count one step ahead of their output: `launch` counts the step that begins,
 * and `completeLast` reports it when it has ended.
 *
 * A sequence that ends by its limit is left out of the batch after its last step. One that stops,
 * or that ends within a burst, still has a row there, whose output is dropped. Both keep their slot
 * and blocks until the last step has ended.
 */
export class AsyncRunner extends LaidRunner {
  /** The batches of the step under way and of the one after it. */
  private current = new FormedBatch();
  private next = new FormedBatch();
  /** Version of the decode set when the step under way began. */
  private version = -1;
  /** The chunks of prompts in the step under way, and the sequences whose prompts end with it. */
  private readonly chunks = new ChunksInFlight();
  private readonly promptsDone: EngineSequence[] = [];
  /**
   * Sequences that the step under way admitted with KV from elsewhere; their first tokens come with
   * its end.
   */
  private readonly joined: EngineSequence[] = [];
  /**
   * Sequences that end with the step under way. The next batch was formed before their end was
   * known.
   */
  private readonly stopping: EngineSequence[] = [];
  private readonly held: EngineSequence[] = [];

  constructor(parts: RunnerParts) {
    super(parts, 1);
    const { former, record } = parts;
    former.formsAhead = true;
    record.batch = former.batch;
  }

  get hasFormed(): boolean {
    return this.next.isFormed;
  }

  begin(startUs: Micros): Micros | undefined {
    if (!this.mayBegin(startUs)) return undefined;
    this.isLaid = this.mayLay() && this.timeline.lay(startUs);
    if (!this.next.isFormed) this.endUs = startUs + 1;
    else this.endUs = this.isLaid ? this.timeline.endUs(1) : this.timedEndUs(startUs);
    this.version = this.decode.version;
    this.launch();
    return this.endUs;
  }

  form(startUs: Micros): number | undefined {
    if (!this.mayBegin(startUs)) return undefined;
    this.isLaid = false;
    this.timeline.break();
    this.launch();
    const { isFormed, sums } = this.current;
    return isFormed ? sums.prefillTokens + sums.decodeSeqs + sums.draftTokens : 0;
  }

  endBeside({ paddingTokens, expertTokens }: StepShare): Micros {
    const { isFormed, sums, loadUs } = this.current;
    if (!isFormed) return this.startUs + 1;
    // Padding tokens attend to nothing.
    const decodeSeqs = sums.decodeSeqs + paddingTokens;
    return this.startUs + this.spanOf({ ...sums, decodeSeqs, expertTokens }, loadUs);
  }

  extend(untilUs: Micros, withFirstTokens: boolean): Micros {
    assert(this.ahead === 1, 'only a single step under way is extended');
    if (this.endUs >= untilUs || !this.mayLeap(withFirstTokens)) return this.endUs;
    const { decode, timeline } = this;
    // A sequence is not in the batch after its last step, so that batch can admit another.
    const alike = decode.stepsToFinish - (this.hasWaiting ? 1 : 0);
    let behind = Math.min(alike, timeline.stepsWithinLimit());
    if (untilUs !== Infinity) behind = Math.min(behind, timeline.stepsUntil(untilUs));
    // The batch after the last of these steps needs blocks too.
    this.setAhead(1 + decode.stepsFed(Math.max(0, behind), this.parts.blocks.pool.freeBlocks));
    return this.endUs;
  }

  completeLast(): void {
    const { record, former, speculation } = this.parts;
    let tokens = record.countOfEmitting();
    if (speculation !== undefined) tokens += record.tokensBesideOne();
    for (const { mode } of former.batch.ending) tokens += mode === 'prefill-and-hold' ? 0 : 1;
    this.endStep(tokens);
    this.countChunks();
  }

  /** In order of admission, in which vLLM frees their blocks. */
  nextFinished(): EngineSequence | undefined {
    const { batch } = this.parts.former;
    const [first] = batch.ending;
    const stopped = this.nextStopping();
    if (first === undefined || (stopped !== undefined && stopped.rank < first.rank)) {
      if (stopped === undefined) return this.nextDeparted();
      this.stopping.shift();
      if (stopped.state === 'stalled') batch.drop(stopped);
      else this.decode.leave(stopped);
      return stopped;
    }
    batch.drop(first);
    if (first.mode !== 'prefill-and-hold') return first;
    this.held.push(first);
    return this.nextFinished();
  }

  endChunks(): readonly EngineSequence[] {
    return this.held;
  }

  tokensInFlight(seq: EngineSequence): number {
    if (this.ahead === 0) return 0;
    const { record, former } = this.parts;
    if (record.departed.includes(seq)) return 1 + seq.burst;
    if (seq.state === 'ending') return seq.mode === 'prefill-and-hold' ? 0 : 1;
    const isBefore = seq.state === 'stalled' || seq.state === 'decoding';
    return isBefore && !former.batch.joined.includes(seq) ? 1 + seq.burst : 0;
  }

  blocksTakenBy(atUs: Micros | undefined): number {
    if (atUs === undefined || this.ahead <= 1) return 0;
    const behind = this.begunBy(atUs) - 1;
    return this.decode.takenAhead(behind) - this.decode.takenByEnding(behind);
  }

  protected advance(steps: number): void {
    this.decode.advanceAndGrow(steps - 1);
    this.launch();
  }

  /**
   * Records each sequence that got its first token with the first of these steps and is still in
   * the engine.
   */
  protected noteFirstTokens(): void {
    const { firstTokens } = this.parts.record;
    for (const seq of this.joined) if (!hasEnded(seq)) firstTokens.push(seq.handle);
    for (const seq of this.promptsDone) {
      const isFirst = seq.emitted === 1 && !hasEnded(seq);
      if (isFirst && seq.mode !== 'prefill-and-hold') firstTokens.push(seq.handle);
    }
  }

  /** Forms a batch for the step unless there is one. Returns true when a step is under way. */
  private mayBegin(startUs: Micros): boolean {
    const { record } = this.parts;
    assert(this.ahead === 0, 'a step is under way already');
    if (record.isRead) record.clear();
    if (!this.next.isFormed) this.formNext(startUs, false);
    if (!this.next.isFormed && !record.hasDismissed) return false;
    this.startUs = startUs;
    this.ahead = 1;
    this.done = 0;
    return true;
  }

  private get hasWaiting(): boolean {
    const { queue } = this.parts;
    return queue.size + queue.unreservedSize > 0;
  }

  private mayLay(): boolean {
    const { isFormed, isPure, version } = this.next;
    const isAsFormed = isFormed && isPure && version === this.decode.version;
    return isAsFormed && warmupFactor(this.parts) === 1;
  }

  /** The batch after the step under way is the same, and so are all later ones. */
  private mayLeap(withFirstTokens: boolean): boolean {
    const { former, record } = this.parts;
    const isSame = this.isLaid && this.next.isFormed && this.decode.version === this.version;
    if (!isSame || !this.next.isPure || this.stopping.length > 0) return false;
    if (former.mayAdmitNext || record.hasDismissed) return false;
    return this.joined.length === 0 || (withFirstTokens && !this.hasJitter);
  }

  /** Counts the step that begins, and forms the batch after it. */
  private launch(): void {
    const { former, speculation, accounts } = this.parts;
    const { batch } = former;
    truncate(this.joined, 0);
    truncate(this.promptsDone, 0);
    truncate(this.stopping, 0);
    truncate(this.held, 0);
    this.chunks.load(batch.prefilling);
    [this.current, this.next] = [this.next, this.current];
    this.next.isFormed = false;
    if (!this.current.isFormed) return;
    // The handle of one that was aborted since the batch was formed may name another sequence.
    for (const seq of batch.joined) if (!hasEnded(seq)) this.joined.push(seq);
    this.decode.advance();
    if (speculation === undefined) batch.countResumed();
    else speculation.giveBursts(this.decode, accounts);
    if (this.chunks.prompts.length > 0) this.endPrompts(batch.prefilling);
    this.takeEnded();
    this.formNext(this.startUs, true);
  }

  /** @param isAhead the step before it is under way */
  private formNext(nowUs: Micros, isAhead: boolean): void {
    const { next } = this;
    const { former, scatter, speculation } = this.parts;
    next.isFormed = former.form(nowUs, isAhead);
    if (!next.isFormed) return;
    const { batch } = former;
    next.version = this.decode.version;
    next.loadUs = batch.loadUs;
    // With bursts the contexts do not grow linearly.
    const isEven = scatter === undefined && speculation === undefined;
    next.isPure = batch.chunkTokens === 0 && batch.loadUs === 0 && isEven;
    batch.aggregates(next.sums);
  }

  /**
   * Handles sequences whose prompt ends with the step that begins: they decode in the next batch.
   */
  private endPrompts(prefilling: EngineSequence[]): void {
    let kept = 0;
    for (const seq of prefilling) {
      if (seq.computed < seq.targetTokens) {
        prefilling[kept++] = seq;
        continue;
      }
      this.promptsDone.push(seq);
      if (seq.mode === 'prefill-and-hold') {
        this.keep(seq);
        continue;
      }
      seq.emitted++;
      seq.burst = 0;
      this.decode.join(seq);
      seq.drafts = seq.padding;
      seq.padding = 0;
    }
    truncate(prefilling, kept);
  }

  /** Members that get their last token with the step that begins. */
  private takeEnded(): void {
    const { decode } = this;
    for (let seq = decode.takeFinished(); seq !== undefined; seq = decode.takeFinished()) {
      // The number of accepted drafts of the step is not known yet.
      if (seq.endsByLimit && seq.burst === 0) {
        decode.leave(seq);
        this.keep(seq);
        this.parts.former.touch();
      } else {
        decode.linger(seq);
        this.stopping.push(seq);
      }
    }
  }

  private keep(seq: EngineSequence): void {
    seq.state = 'ending';
    this.parts.former.batch.ending.push(seq);
  }

  private nextStopping(): EngineSequence | undefined {
    const { stopping } = this;
    // An aborted sequence is no longer in the engine; a preempted one is no longer in the batch.
    const isHere = ({ state }: EngineSequence): boolean =>
      state === 'decoding' || state === 'stalled';
    while (stopping.length > 0 && !isHere(stopping[0]!)) stopping.shift();
    return stopping[0];
  }

  /** Ends a sequence that was preempted after the step of its last token had begun. */
  private nextDeparted(): EngineSequence | undefined {
    const { record, queue } = this.parts;
    const isOver = ({ state, emitted, outputTokens }: EngineSequence): boolean =>
      state === 'waiting' && emitted === outputTokens;
    const seq = record.departed.find(isOver);
    if (seq !== undefined) queue.remove(seq);
    return seq;
  }

  private countChunks(): void {
    const { blocks, accounts } = this.parts;
    const { prompts, ranks, reached } = this.chunks;
    for (let i = 0; i < prompts.length; i++) {
      const seq = prompts[i]!;
      if (hasEnded(seq) || seq.rank !== ranks[i]) continue;
      accounts.computed(seq, reached[i]!);
      const isWhole = reached[i]! >= seq.promptTokens;
      if (blocks.isShared && isWhole) blocks.keep(seq, reached[i]!);
      seq.inFlight = 0;
    }
  }

  private timedEndUs(startUs: Micros): Micros {
    this.timeline.break();
    return startUs + this.spanOf(this.next.sums, this.next.loadUs);
  }
}

/** True when the sequence was aborted. */
function hasEnded({ state }: EngineSequence): boolean {
  return state === 'gone' || state === 'leaving';
}
