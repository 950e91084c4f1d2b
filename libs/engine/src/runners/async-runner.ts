import { assert, type Micros } from '@baton/kernel';
import { emptySums } from '../batch';
import { NO_VERSION } from '../decode-set';
import { ChunksInFlight } from './chunks-in-flight';
import { CountedAhead } from './counted-ahead';
import { LaidRunner } from './laid-runner';
import type { StepShare } from '../lockstep/lockstep';
import { type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from '../sequence';

/**
 * The batch of the next step, as it was formed. When a sequence leaves before the step, its row
 * stays in the batch and its output is dropped.
 */
class FormedBatch {
  isFormed = false;
  /** Whether the batch only decodes. */
  isPure = false;
  /** Version of the decode set. */
  version = NO_VERSION;
  loadUs = 0;
  readonly sums = emptySums();
}

/**
 * Steps of an engine with async scheduling, as vLLM's `EngineCore.step_with_batch_queue` takes them
 * with an `AsyncScheduler` and two batches in flight. When a step begins, the next batch is formed
 * at once, from the results of the step before and placeholders for the tokens of the step under
 * way. So the sequences count one step ahead of their output: `launch` counts the step that begins,
 * and `completeLast` reports it when it has ended.
 */
export class AsyncRunner extends LaidRunner {
  /** The batches of the step under way and of the one after it. */
  private current = new FormedBatch();
  private next = new FormedBatch();
  /** Version of the decode set when the step under way began. */
  private version = NO_VERSION;
  /** The chunks of prompts in the step under way. */
  private readonly chunks = new ChunksInFlight();
  private readonly step: CountedAhead;

  constructor(parts: RunnerParts) {
    super(parts, 1);
    const { former, record } = parts;
    this.step = new CountedAhead(parts);
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
    let further = Math.min(alike, timeline.stepsWithinLimit());
    if (untilUs !== Infinity) further = Math.min(further, timeline.stepsUntil(untilUs));
    // The batch after the last of these steps needs blocks too.
    this.setAhead(1 + decode.stepsFed(Math.max(0, further), this.parts.blocks.pool.freeBlocks));
    return this.endUs;
  }

  completeLast(): void {
    this.endStep(this.step.tokens());
    this.step.countChunks(this.chunks);
  }

  nextFinished(): EngineSequence | undefined {
    return this.step.nextFinished();
  }

  endChunks(): readonly EngineSequence[] {
    return this.step.held;
  }

  tokensInFlight(seq: EngineSequence): number {
    return this.ahead === 0 ? 0 : this.step.tokensInFlight(seq);
  }

  blocksTakenBy(atUs: Micros | undefined): number {
    if (atUs === undefined || this.ahead <= 1) return 0;
    const further = this.begunBy(atUs) - 1;
    return this.decode.takenAhead(further) - this.decode.takenByEnding(further);
  }

  protected advance(steps: number): void {
    this.decode.advanceAndGrow(steps - 1);
    this.launch();
  }

  protected noteFirstTokens(): void {
    this.step.noteFirstTokens();
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
    if (!isSame || !this.next.isPure || this.step.stopping.length > 0) return false;
    if (former.mayAdmitNext || record.hasDismissed) return false;
    return this.step.joined.length === 0 || (withFirstTokens && !this.hasJitter);
  }

  /** Counts the step that begins, and forms the batch after it. */
  private launch(): void {
    const { step, chunks } = this;
    step.clear();
    chunks.load(this.parts.former.batch.prefilling);
    [this.current, this.next] = [this.next, this.current];
    this.next.isFormed = false;
    if (!this.current.isFormed) return;
    step.count(chunks);
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

  private timedEndUs(startUs: Micros): Micros {
    this.timeline.break();
    return startUs + this.spanOf(this.next.sums, this.next.loadUs);
  }
}
