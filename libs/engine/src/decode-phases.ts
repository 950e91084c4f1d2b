import { truncate } from '@baton/kernel';
import { WindowPhases } from '@baton/kvcache';
import type { EngineSequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';

/**
 * When decoding sequences need another block. A sequence fills one every `blockSize` steps, so it
 * has a phase: the step, modulo the block size, at whose beginning it needs the next. Sequences
 * whose further blocks no other can find are only counted; the others are kept by phase and visited
 * when they fill a block. Steps are numbered as by the decode set, which drives this.
 */
export class DecodePhases {
  size = 0;
  /** Members by phase. */
  private readonly counts: Int32Array;
  /** Those among them that have blocks to publish. */
  private readonly publishing: EngineSequence[][];
  private publishingSize = 0;
  private readonly blockSize: number;
  /** Blocks that a member takes at a time: one in each group. */
  readonly perBlock: number;
  /** Undefined: no group has a sliding window. */
  private readonly windows: WindowPhases | undefined;
  /** Members that have to give back blocks before they have a phase in `windows`. */
  private readonly behind: EngineSequence[] = [];

  constructor(private readonly blocks: SequenceBlocks) {
    const { layout } = blocks;
    this.blockSize = blocks.blockSize;
    this.perBlock = layout.perBlock;
    this.windows = layout.windowed > 0 ? new WindowPhases(layout) : undefined;
    this.counts = new Int32Array(this.blockSize);
    this.publishing = Array.from({ length: this.blockSize }, () => []);
  }

  /** @param isGrown its window is that of the step that the set is at, or else of one before */
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
    seq.phaseIndex = -1;
    this.publishingSize--;
  }

  /** Members that need a block of each group for this step. */
  countAt(step: number): number {
    return this.counts[step % this.blockSize]!;
  }

  /** Blocks that the `count` steps behind `step` take, less those that they give back. */
  takenBehind(step: number, count: number): number {
    const taken = this.growthsBehind(step, count) * this.perBlock;
    if (this.windows === undefined) return taken;
    return taken - this.windows.givenBehind(step, count) * this.blocks.layout.windowed;
  }

  /**
   * How many of the `count` steps behind `step` this many free blocks suffice for, without those
   * that the steps give back.
   */
  stepsFed(step: number, count: number, free: number): number {
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
   * Gives blocks to each member that needs them for this step, and takes those that windows have
   * left behind; enough must be free before.
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
    this.blocks.slideUnlisted(this.windows.givenAt(step));
    this.catchUp(step);
  }

  /** Does the same for the `count` steps behind `step`, one after the other. */
  growBehind(step: number, count: number): void {
    if (this.publishingSize === 0) {
      this.blocks.growUnlisted(this.growthsBehind(step, count));
      if (this.windows !== undefined)
        this.blocks.slideUnlisted(this.windows.givenBehind(step, count));
      return;
    }
    const isEachGrown = this.windows !== undefined;
    for (let i = 1; i <= count; i++)
      if (isEachGrown || this.countAt(step + i) > 0) this.grow(step + i);
  }

  /** Members that are behind give back what they have left, at this step. */
  catchUp(step: number): void {
    const { behind } = this;
    for (let i = 0; i < behind.length; i++) {
      const seq = behind[i]!;
      seq.isBehind = false;
      this.blocks.slide(seq, seq.contextOffset + step);
      this.windows!.add(seq.contextOffset);
    }
    truncate(behind, 0);
  }

  /** Whether the member gives back blocks at this step. */
  slidesAt(seq: EngineSequence, step: number): boolean {
    if (this.windows === undefined) return false;
    const { layout } = this.blocks;
    const context = seq.contextOffset + step;
    return seq.isBehind || layout.slidAt(context) > layout.slidAt(context - 1);
  }

  /** Blocks that the member takes at this step, less those that it gives back. */
  takenBy(seq: EngineSequence, step: number): number {
    const context = seq.contextOffset + step;
    const taken = context % this.blockSize === 0 ? this.perBlock : 0;
    if (this.windows === undefined) return taken;
    const { layout } = this.blocks;
    return taken - (layout.slidAt(context) - layout.slidAt(context - 1)) * layout.windowed;
  }

  /** Times that members need a block of each group in the `count` steps behind `step`. */
  private growthsBehind(step: number, count: number): number {
    const rounds = Math.floor(count / this.blockSize);
    let growths = rounds * this.size;
    for (let i = count - rounds * this.blockSize; i >= 1; i--) growths += this.countAt(step + i);
    return growths;
  }

  private addWindow(seq: EngineSequence, isGrown: boolean): void {
    seq.isBehind = !isGrown;
    if (isGrown) this.windows!.add(seq.contextOffset);
    else this.behind.push(seq);
  }

  private removeWindow(seq: EngineSequence): void {
    if (seq.isBehind) this.behind.splice(this.behind.indexOf(seq), 1);
    else this.windows!.remove(seq.contextOffset);
  }

  /** A block is full, and the next one needed, when the context is a multiple of the block size. */
  private phaseOf(seq: EngineSequence): number {
    const rest = -seq.contextOffset % this.blockSize;
    return rest < 0 ? rest + this.blockSize : rest;
  }
}
