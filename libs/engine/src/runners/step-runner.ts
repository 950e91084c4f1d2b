import { assert, type Micros, truncate } from '@baton/kernel';
import { LaidRunner } from './laid-runner';
import type { StepShare } from '../lockstep/lockstep';
import { type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from '../sequence';

/**
 * Lays steps in time: the duration of the one under way, the number of steps that it may cover, and
 * their effect on the counters. The engine decides what happens to sequences at its end.
 */
export class StepRunner extends LaidRunner {
  private readonly promptsDone: EngineSequence[] = [];
  readonly hasFormed = false;
  /** Whether the step under way computes anything. Otherwise it only reports rejected sequences. */
  private runs = false;

  constructor(parts: RunnerParts) {
    super(parts, 0);
  }

  begin(startUs: Micros, hasOwnEnd = true): Micros | undefined {
    const { former, record } = this.parts;
    assert(this.ahead === 0, 'a step is under way already');
    if (record.isRead) record.clear();
    this.runs = former.form(startUs);
    if (!this.runs && !record.hasDismissed) return undefined;
    this.startUs = startUs;
    this.ahead = 1;
    this.done = 0;
    this.endUs = startUs + 1;
    const mayLay = this.runs && hasOwnEnd && this.isPureDecode();
    this.isLaid = mayLay && this.timeline.lay(startUs);
    if (this.isLaid) this.endUs = this.timeline.endUs(1);
    else this.timeline.break();
    if (this.runs && hasOwnEnd && !this.isLaid) {
      this.endUs = startUs + this.spanOf(former.batch.aggregates(), former.batch.loadUs);
    }
    return this.endUs;
  }

  form(startUs: Micros): number | undefined {
    if (this.begin(startUs, false) === undefined) return undefined;
    if (!this.runs) return 0;
    const { prefillTokens, decodeSeqs, draftTokens = 0 } = this.parts.former.batch.aggregates();
    return prefillTokens + decodeSeqs + draftTokens;
  }

  endBeside({ paddingTokens, expertTokens }: StepShare): Micros {
    if (!this.runs) return this.startUs + 1;
    const { batch } = this.parts.former;
    const own = batch.aggregates();
    // Padding tokens attend to nothing.
    const decodeSeqs = own.decodeSeqs + paddingTokens;
    return this.startUs + this.spanOf({ ...own, decodeSeqs, expertTokens }, batch.loadUs);
  }

  extend(untilUs: Micros, withFirstTokens: boolean): Micros {
    assert(this.ahead === 1, 'only a single step under way is extended');
    const { blocks, former, record } = this.parts;
    const { decode } = this;
    const mayLeap = this.isLaid && !former.mayAdmitNext && !record.hasDismissed;
    if (!mayLeap || this.endUs >= untilUs) return this.endUs;
    if (former.batch.joined.length > 0 && (this.hasJitter || !withFirstTokens)) return this.endUs;
    const { timeline } = this;
    let steps = Math.min(decode.stepsToFinish, timeline.stepsWithinLimit());
    if (untilUs !== Infinity) steps = Math.min(steps, timeline.stepsUntil(untilUs));
    this.setAhead(1 + decode.stepsFed(steps - 1, blocks.pool.freeBlocks));
    return this.endUs;
  }

  completeLast(): void {
    const { decode } = this;
    decode.advance();
    this.parts.former.batch.countResumed();
    const bursts = this.parts.speculation?.giveBursts(decode, this.parts.accounts) ?? 0;
    this.endStep(decode.size + bursts);
  }

  nextFinished(): EngineSequence | undefined {
    const seq = this.decode.takeFinished();
    if (seq !== undefined) this.decode.leave(seq);
    return seq;
  }

  tokensInFlight(): number {
    return 0;
  }

  endChunks(): readonly EngineSequence[] {
    const { former, accounts, blocks } = this.parts;
    const { prefilling } = former.batch;
    truncate(this.promptsDone, 0);
    let count = 0;
    for (const seq of prefilling) {
      seq.computed += seq.chunk;
      seq.chunk = 0;
      seq.padding = 0;
      accounts.computed(seq, seq.computed);
      if (seq.computed < seq.targetTokens) prefilling[count++] = seq;
      else {
        this.promptsDone.push(seq);
        if (blocks.isShared) blocks.keep(seq, seq.computed);
      }
    }
    truncate(prefilling, count);
    return this.promptsDone;
  }

  blocksTakenBy(atUs: Micros | undefined): number {
    if (atUs === undefined || this.ahead <= 1) return 0;
    return this.decode.takenAhead(this.begunBy(atUs) - 1);
  }

  protected advance(steps: number): void {
    this.decode.advanceAndGrow(steps);
  }

  /** Records the first token of each admitted sequence, unless the sequence was aborted before. */
  protected noteFirstTokens(): void {
    const { former, record } = this.parts;
    for (const seq of former.batch.joined) {
      if (seq.state === 'decoding') record.firstTokens.push(seq.handle);
    }
  }

  private isPureDecode(): boolean {
    const { former, speculation, scatter } = this.parts;
    // With bursts the contexts do not grow linearly.
    if (speculation !== undefined || scatter !== undefined) return false;
    if (former.batch.loadUs > 0) return false;
    return former.batch.chunkTokens === 0 && warmupFactor(this.parts) === 1;
  }
}
