import type { EngineOptions } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import type { ControlRows } from './rows';

/** The prompts of one step, and their sums for the step-time model. */
class PromptBatch {
  /** Rows whose prompts end with the step. */
  readonly done: number[] = [];
  tokens = 0;
  readonly sums = {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    kvUsage: 0,
  };

  clear(): void {
    const { sums } = this;
    this.done.length = 0;
    this.tokens = 0;
    sums.prefillTokens = sums.prefillSeqs = sums.prefillQuadratic = sums.prefillContext = 0;
    sums.decodeSeqs = sums.decodeContext = 0;
  }

  /** A chunk of one token counts as a decode, as in the engine. */
  add(computed: number, chunk: number): void {
    const { sums } = this;
    this.tokens += chunk;
    if (chunk === 1 && computed > 0) {
      sums.decodeSeqs++;
      sums.decodeContext += computed + 1;
      return;
    }
    sums.prefillTokens += chunk;
    sums.prefillSeqs++;
    sums.prefillQuadratic += chunk * (2 * computed + chunk);
    sums.prefillContext += computed;
  }
}

/**
 * A prefill engine of the control: a queue of prompts, and steps of one batch each. The batch after
 * the one under way is formed when that one begins, as with async scheduling.
 */
export class ControlPrefill {
  endUs: Micros = Infinity;
  steps = 0;
  lastTurn = 0;
  /** Rows that are not held yet. */
  load = 0;
  private waitingTokens = 0;
  private readonly waiting: number[] = [];
  private head = 0;
  private current = new PromptBatch();
  private next = new PromptBatch();

  constructor(
    private readonly options: EngineOptions,
    private readonly rows: ControlRows,
  ) {}

  get isStepping(): boolean {
    return this.endUs !== Infinity;
  }

  get hasRoom(): boolean {
    return this.waitingTokens < this.options.maxNumBatchedTokens;
  }

  take(row: number): void {
    this.load++;
    this.waiting.push(row);
    this.waitingTokens += this.rows.promptTokens[row]!;
  }

  /** Begins a step at this instant; false when nothing waits. */
  begin(nowUs: Micros): boolean {
    if (this.next.tokens === 0) this.form(this.next);
    [this.current, this.next] = [this.next, this.current];
    this.next.clear();
    this.endUs = Infinity;
    if (this.current.tokens === 0) return false;
    const us = this.options.stepTime.stepUs(this.current.sums);
    this.endUs = nowUs + Math.max(1, Math.round(us));
    this.form(this.next);
    return true;
  }

  /** The step has ended; returns the rows whose prompts are done. */
  endStep(): readonly number[] {
    this.steps++;
    this.load -= this.current.done.length;
    return this.current.done;
  }

  private form(batch: PromptBatch): void {
    const { rows, waiting } = this;
    batch.clear();
    const { computed, cachedTokens, promptTokens } = rows;
    let budget = this.options.maxNumBatchedTokens;
    while (this.head < waiting.length && budget > 0) {
      const row = waiting[this.head]!;
      if (computed[row] === 0) {
        computed[row] = cachedTokens[row]!;
        this.waitingTokens -= promptTokens[row]!;
      }
      const chunk = Math.min(promptTokens[row]! - computed[row]!, budget);
      batch.add(computed[row]!, chunk);
      computed[row]! += chunk;
      budget -= chunk;
      if (computed[row]! < promptTokens[row]!) break;
      batch.done.push(row);
      this.head++;
    }
    if (this.head < waiting.length || this.head === 0) return;
    waiting.length = 0;
    this.head = 0;
  }
}
