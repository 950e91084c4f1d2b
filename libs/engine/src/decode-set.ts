import { assert } from '@baton/kernel';
import type { Sequence } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import { SequenceHeap } from './sequence-heap';

/**
 * The sequences that get a token in every step. A step touches none of them: one counter moves, and what a sequence has reached
 * follows from it. `finishAt` sits in a heap, and the step at which a sequence fills a block repeats every `blockSize` steps, so
 * sequences are kept by that phase and only those of the present phase are visited. Driven by the batch former and the engine.
 */
export class DecodeSet {
  /** In no particular order. */
  readonly members: Sequence[] = [];
  /** Decode steps done since the engine began. */
  steps = 0;
  /** Σ tokens in KV over the members. */
  contextTokens = 0;
  /** Rises whenever a member joins or leaves. */
  version = 0;
  /** By the step, modulo the block size, at whose beginning a new block is needed. */
  private readonly phases: Sequence[][];
  private readonly byFinish = new SequenceHeap((a, b) =>
    a.finishAt === b.finishAt ? a.rank < b.rank : a.finishAt < b.finishAt,
  );

  /** @param draftTokens  tokens beyond the next one for which a member may hold blocks */
  constructor(
    private readonly blocks: SequenceBlocks,
    private readonly draftTokens = 0,
  ) {
    this.phases = Array.from({ length: blocks.blockSize }, () => []);
  }

  get size(): number {
    return this.members.length;
  }

  /** Steps until the first member ends; Infinity without members. */
  get stepsToFinish(): number {
    const first = this.byFinish.peek();
    return first === undefined ? Infinity : first.finishAt - this.steps;
  }

  /** Takes in a sequence with its blocks exactly as many as its computed tokens need. */
  join(seq: Sequence): void {
    seq.state = 'decoding';
    seq.finishAt = this.steps + seq.outputTokens - seq.emitted;
    seq.contextOffset = seq.computed - this.steps;
    seq.memberIndex = this.members.push(seq) - 1;
    this.enterPhase(seq);
    this.byFinish.push(seq);
    this.contextTokens += seq.computed;
    this.version++;
  }

  /** Lets a sequence go and writes down what it has reached. */
  leave(seq: Sequence): void {
    seq.computed = this.contextOf(seq);
    seq.emitted = this.emittedBy(seq);
    this.leavePhase(seq);
    const last = this.members.pop()!;
    if (last !== seq) {
      this.members[seq.memberIndex] = last;
      last.memberIndex = seq.memberIndex;
    }
    this.byFinish.remove(seq);
    this.contextTokens -= seq.computed;
    this.version++;
  }

  /** Gives a member, whose step was counted, further tokens of that step, with which it may end at most. */
  skip(seq: Sequence, tokens: number): void {
    this.leavePhase(seq);
    seq.finishAt -= tokens;
    seq.contextOffset += tokens;
    this.contextTokens += tokens;
    this.enterPhase(seq);
    this.byFinish.moveUp(seq);
  }

  contextOf(seq: Sequence): number {
    return seq.contextOffset + this.steps;
  }

  emittedBy(seq: Sequence): number {
    return seq.outputTokens - (seq.finishAt - this.steps);
  }

  /** The members that need a new block for the step that begins now. */
  growing(): readonly Sequence[] {
    return this.phaseAt(0);
  }

  /** A member that ended with the last step. */
  finished(): Sequence | undefined {
    const first = this.byFinish.peek();
    return first !== undefined && first.finishAt <= this.steps ? first : undefined;
  }

  /** Counts one step. */
  advance(): void {
    this.steps++;
    this.contextTokens += this.members.length;
  }

  /**
   * Counts `count` steps and gives out the blocks that the steps after each of them need, in the same order as one step after the
   * other would. Time: the blocks given out, plus one block size.
   */
  advanceAndGrow(count: number): void {
    const { blockSize } = this.blocks;
    const busy: number[] = [];
    for (let ahead = 1; ahead <= Math.min(blockSize, count); ahead++) {
      if (this.phaseAt(ahead).length > 0) busy.push(ahead);
    }
    for (let round = 0; round < count; round += blockSize) {
      for (const ahead of busy) {
        if (round + ahead <= count) this.growAhead(round + ahead);
      }
    }
    this.steps += count;
    this.contextTokens += count * this.members.length;
  }

  /** Blocks that the steps 1..count after the one under way need. */
  demandAhead(count: number): number {
    const { blockSize } = this.blocks;
    const rounds = Math.floor(count / blockSize);
    let demand = rounds * this.members.length;
    for (let ahead = count - rounds * blockSize; ahead >= 1; ahead--) {
      demand += this.phaseAt(ahead).length;
    }
    return demand;
  }

  /** How many further steps after the one under way `free` blocks suffice for. */
  stepsFedBy(free: number): number {
    if (this.members.length === 0) return Infinity;
    const rounds = Math.floor(free / this.members.length);
    let rest = free - rounds * this.members.length;
    let steps = rounds * this.blocks.blockSize;
    for (let ahead = 1; rest >= this.phaseAt(ahead).length; ahead++) {
      rest -= this.phaseAt(ahead).length;
      steps++;
    }
    return steps;
  }

  /** Recounts what is kept up to date step by step. O(members). */
  audit(): void {
    let context = 0;
    for (const seq of this.members) {
      context += this.contextOf(seq);
      assert(this.emittedBy(seq) < seq.outputTokens, 'a sequence decodes past its end');
      const kvTokens = seq.promptTokens + this.emittedBy(seq) - 1;
      assert(this.contextOf(seq) === kvTokens, 'lost count of a context');
      const spare = seq.blocks.length * this.blocks.blockSize - kvTokens;
      assert(
        spare >= 0 && spare <= this.blocks.blockSize + this.draftTokens,
        'a sequence has blocks it does not need',
      );
    }
    assert(context === this.contextTokens, 'the decode set has lost count of its context');
    const inPhases = this.phases.reduce((sum, phase) => sum + phase.length, 0);
    assert(inPhases === this.size && this.byFinish.size === this.size, 'the decode set is torn');
  }

  private enterPhase(seq: Sequence): void {
    seq.phaseIndex = this.phaseOf(seq).push(seq) - 1;
  }

  private leavePhase(seq: Sequence): void {
    const phase = this.phaseOf(seq);
    const last = phase.pop()!;
    if (last === seq) return;
    phase[seq.phaseIndex] = last;
    last.phaseIndex = seq.phaseIndex;
  }

  private growAhead(ahead: number): void {
    const phase = this.phaseAt(ahead);
    for (let i = 0; i < phase.length; i++) {
      const seq = phase[i]!;
      this.blocks.grow(seq, this.contextOf(seq) + ahead);
    }
  }

  private phaseAt(ahead: number): Sequence[] {
    return this.phases[(this.steps + ahead) % this.blocks.blockSize]!;
  }

  /** A block is full, and the next one needed, when the context is a multiple of the block size. */
  private phaseOf(seq: Sequence): Sequence[] {
    const { blockSize } = this.blocks;
    return this.phases[((-seq.contextOffset % blockSize) + blockSize) % blockSize]!;
  }
}
