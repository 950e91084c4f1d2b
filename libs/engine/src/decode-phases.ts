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

  constructor(private readonly blocks: SequenceBlocks) {
    this.blockSize = blocks.blockSize;
    this.counts = new Int32Array(this.blockSize);
    this.publishing = Array.from({ length: this.blockSize }, () => []);
  }

  add(seq: EngineSequence): void {
    const phase = this.phaseOf(seq);
    this.counts[phase]!++;
    this.size++;
    if (!this.blocks.hasMoreToPublish(seq)) return;
    seq.phaseIndex = this.publishing[phase]!.push(seq) - 1;
    this.publishingSize++;
  }

  remove(seq: EngineSequence): void {
    const phase = this.phaseOf(seq);
    this.counts[phase]!--;
    this.size--;
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

  /** Members that need a block for this step. */
  countAt(step: number): number {
    return this.counts[step % this.blockSize]!;
  }

  /** Blocks that the `count` steps behind `step` need. */
  demandBehind(step: number, count: number): number {
    const rounds = Math.floor(count / this.blockSize);
    let demand = rounds * this.size;
    for (let i = count - rounds * this.blockSize; i >= 1; i--) demand += this.countAt(step + i);
    return demand;
  }

  /** How many of the `count` steps behind `step` this many free blocks suffice for. */
  stepsFed(step: number, count: number, free: number): number {
    const most = Math.ceil(count / this.blockSize) * this.size;
    if (most <= free) return count;
    const rounds = Math.floor(free / this.size);
    let rest = free - rounds * this.size;
    let steps = rounds * this.blockSize;
    for (; steps < count && rest >= this.countAt(step + steps + 1); steps++) {
      rest -= this.countAt(step + steps + 1);
    }
    return Math.min(steps, count);
  }

  /** Gives a block to each member that needs one for this step; enough must be free. */
  grow(step: number): void {
    const publishing = this.publishing[step % this.blockSize]!;
    for (let i = 0; i < publishing.length; i++) {
      const seq = publishing[i]!;
      this.blocks.grow(seq, seq.contextOffset + step);
    }
    this.blocks.growUnlisted(this.countAt(step) - publishing.length);
  }

  /** Does the same for the `count` steps behind `step`, one after the other. */
  growBehind(step: number, count: number): void {
    if (this.publishingSize === 0) {
      this.blocks.growUnlisted(this.demandBehind(step, count));
      return;
    }
    for (let i = 1; i <= count; i++) if (this.countAt(step + i) > 0) this.grow(step + i);
  }

  /** A block is full, and the next one needed, when the context is a multiple of the block size. */
  private phaseOf(seq: EngineSequence): number {
    const rest = -seq.contextOffset % this.blockSize;
    return rest < 0 ? rest + this.blockSize : rest;
  }
}
