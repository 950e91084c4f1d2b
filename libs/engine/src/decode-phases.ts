import { truncate } from '@baton/kernel';
import { WindowPhases } from '@baton/kvcache';
import { type EngineSequence, NOT_LISTED } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';

/**
 * When decoding sequences need another block. A sequence fills one every `blockSize` steps, so it
 * has a phase: the step, modulo the block size, at whose beginning it needs the next. Sequences
 * whose further blocks cannot be found by others are only counted; the rest are kept by phase and
 * visited when they fill a block. Steps are numbered as by the decode set, which drives this.
 */
export class DecodePhases {
  size = 0;
  /** Members by phase. */
  private readonly counts: Int32Array;
  /** Members that have blocks to publish, by phase. */
  private readonly publishing: EngineSequence[][];
  private publishingSize = 0;
  private readonly blockSize: number;
  /** Blocks that a member takes at once: one in each group. */
  readonly perBlock: number;
  /** Undefined when no group has a sliding window. */
  private readonly windows: WindowPhases | undefined;
  /** Members that must free blocks before they get a phase in `windows`. */
  private readonly late: EngineSequence[] = [];
  /** Members whose windows have findable blocks, by the phase at which they free them. */
  private readonly sliding = new Map<number, Set<EngineSequence>>();

  /** @param lag  steps by which windows move later than contexts: batches are formed ahead */
  constructor(
    private readonly blocks: SequenceBlocks,
    private readonly lag: number,
  ) {
    const { layout } = blocks;
    this.blockSize = blocks.blockSize;
    this.perBlock = layout.perBlock;
    this.windows = layout.windowed > 0 ? new WindowPhases(layout) : undefined;
    this.counts = new Int32Array(this.blockSize);
    this.publishing = Array.from({ length: this.blockSize }, () => []);
  }

  /**
   * @param isGrown the window of the member is that of the current step of the set, else of the
   * step before
   */
  add(seq: EngineSequence, isGrown: boolean): void {
    const phase = this.phaseOf(seq);
    this.counts[phase]!++;
    this.size++;
    if (this.windows !== undefined) this.addWindow(seq, isGrown);
    if (!this.blocks.hasMoreToPublish(seq)) return;
    seq.phaseIndex = this.publishing[phase]!.push(seq) - 1;
    this.publishingSize++;
  }

  remove(seq: EngineSequence): void {
    const phase = this.phaseOf(seq);
    this.counts[phase]!--;
    this.size--;
    if (this.windows !== undefined) this.removeWindow(seq);
    if (seq.phaseIndex < 0) return;
    const publishing = this.publishing[phase]!;
    const last = publishing.pop()!;
    if (last !== seq) {
      publishing[seq.phaseIndex] = last;
      last.phaseIndex = seq.phaseIndex;
    }
    seq.phaseIndex = NOT_LISTED;
    this.publishingSize--;
  }

  /** Members that need a block of each group for this step. */
  countAt(step: number): number {
    return this.counts[step % this.blockSize]!;
  }

  /**
   * The number of the `count` steps after `step` for which this many free blocks suffice, not
   * counting blocks that the steps free.
   */
  stepsFed(step: number, count: number, free: number): number {
    if (this.late.length > 0) return 0;
    const known = this.windows?.stepsKnown(step, count) ?? count;
    const growths = Math.floor(free / this.perBlock);
    const most = Math.ceil(known / this.blockSize) * this.size;
    if (most <= growths) return known;
    const rounds = Math.floor(growths / this.size);
    let rest = growths - rounds * this.size;
    let steps = rounds * this.blockSize;
    for (; steps < known && rest >= this.countAt(step + steps + 1); steps++) {
      rest -= this.countAt(step + steps + 1);
    }
    return Math.min(steps, known);
  }

  /**
   * Gives blocks to each member that needs them for this step, and frees those that windows have
   * passed. Enough blocks must be free before the call.
   */
  grow(step: number): void {
    const publishing = this.publishing[step % this.blockSize]!;
    for (let i = 0; i < publishing.length; i++) {
      const seq = publishing[i]!;
      this.blocks.grow(seq, seq.contextOffset + step);
    }
    this.blocks.growUnlisted(this.countAt(step) - publishing.length);
    if (this.windows === undefined) return;
    this.windows.startUpTo(step - 1);
    const listed = this.slideListed(step);
    this.blocks.slideUnlisted(this.windows.givenAt(step) - listed);
    this.catchUp(step);
  }

  /** Does the same for the `count` steps after `step`, one after the other. */
  growBehind(step: number, count: number): void {
    if (this.publishingSize + this.sliding.size === 0) {
      this.blocks.growUnlisted(this.growthsBehind(step, count));
      if (this.windows !== undefined)
        this.blocks.slideUnlisted(this.windows.givenBehind(step, count));
      return;
    }
    const isEachGrown = this.windows !== undefined;
    for (let i = 1; i <= count; i++)
      if (isEachGrown || this.countAt(step + i) > 0) this.grow(step + i);
  }

  /** At this step, late members free the blocks that their windows have passed. */
  catchUp(step: number): void {
    const { late } = this;
    let count = 0;
    for (let i = 0; i < late.length; i++) {
      const seq = late[i]!;
      // The window of a prompt moves on when its last chunk is done.
      const tokens = this.windowContext(seq, step) - Math.max(0, seq.inFlight - this.lag);
      this.blocks.slide(seq, tokens + this.leadOf(seq));
      if (seq.inFlight > 0 || this.isAhead(seq, tokens)) {
        late[count++] = seq;
        continue;
      }
      seq.isBehind = false;
      this.enterWindows(seq);
    }
    truncate(late, count);
  }

  /** Tokens of the member that its window has passed at this step. */
  windowContext({ contextOffset }: EngineSequence, step: number): number {
    return contextOffset + step - this.lag;
  }

  /** A member without a row in the step under way has no token in flight. */
  private leadOf({ burst }: EngineSequence): number {
    return burst < 0 ? this.lag : 0;
  }

  /** Times that members need a block of each group in the `count` steps after `step`. */
  private growthsBehind(step: number, count: number): number {
    const rounds = Math.floor(count / this.blockSize);
    let growths = rounds * this.size;
    for (let i = count - rounds * this.blockSize; i >= 1; i--) growths += this.countAt(step + i);
    return growths;
  }

  private addWindow(seq: EngineSequence, isGrown: boolean): void {
    seq.isBehind = !isGrown || this.isAhead(seq, seq.computed - this.lag);
    if (!seq.isBehind) this.enterWindows(seq);
    else this.late.push(seq);
  }

  private removeWindow(seq: EngineSequence): void {
    if (seq.isBehind) {
      this.late.splice(this.late.indexOf(seq), 1);
      return;
    }
    this.windows!.remove(this.windowContext(seq, 0));
    this.leaveSliding(seq);
  }

  /**
   * True when the window has moved further than these tokens need: loaded KV covers the whole
   * prompt, whose last token is computed again.
   */
  private isAhead({ slid }: EngineSequence, tokens: number): boolean {
    return slid > this.blocks.layout.slidAt(tokens);
  }

  private enterWindows(seq: EngineSequence): void {
    this.windows!.add(this.windowContext(seq, 0));
    if (!this.blocks.hasListedWindow(seq)) return;
    const phase = this.windowPhaseOf(seq);
    const others = this.sliding.get(phase);
    if (others === undefined) this.sliding.set(phase, new Set([seq]));
    else others.add(seq);
  }

  private leaveSliding(seq: EngineSequence): void {
    const phase = this.windowPhaseOf(seq);
    const others = this.sliding.get(phase);
    if (others?.delete(seq) === true && others.size === 0) this.sliding.delete(phase);
  }

  /** Frees the blocks that those members leave at this step; returns blocks of each group. */
  private slideListed(step: number): number {
    let given = 0;
    for (const seq of this.sliding.get(step % this.blocks.layout.period) ?? []) {
      const { slid } = seq;
      this.blocks.slide(seq, this.windowContext(seq, step));
      given += seq.slid - slid;
      if (!this.blocks.hasListedWindow(seq)) this.leaveSliding(seq);
    }
    return given;
  }

  /** The step, modulo the period, at which the member frees blocks. */
  private windowPhaseOf(seq: EngineSequence): number {
    const { offset, period } = this.blocks.layout;
    const rest = (offset - this.windowContext(seq, 0)) % period;
    return rest < 0 ? rest + period : rest;
  }

  /** A block is full, and the next is needed, when the context is a multiple of the block size. */
  private phaseOf(seq: EngineSequence): number {
    const rest = -seq.contextOffset % this.blockSize;
    return rest < 0 ? rest + this.blockSize : rest;
  }
}
