import { assert } from '@baton/kernel';
import { DecodePhases } from './decode-phases';
import { type EngineSequence, NO_ROW, NO_TOKEN } from './sequence';
import type { SequenceBlocks } from './sequence-blocks';
import { SequenceHeap } from './sequence-heap';

/** A version that no decode set has. */
export const NO_VERSION = -1;

/**
 * The sequences that get a token in every step. A step touches none of them: one counter moves, and
 * the progress of a sequence follows from it. `finishAt` sits in a heap, and blocks are assigned by
 * phase. The block list of a sequence whose further blocks cannot be found by others is updated
 * only by `settle`. The scheduler and the engine drive it.
 */
export class DecodeSet {
  /** In no particular order. */
  readonly members: EngineSequence[] = [];
  /** Number of them. */
  size = 0;
  /** Decode steps since the start of the engine. */
  steps = 0;
  /** Σ tokens in KV over the members. */
  contextTokens = 0;
  /** Rises whenever a member joins or leaves. */
  version = 0;
  /** The latest step for which all members have their blocks. */
  private grownFor = -1;
  private readonly phases: DecodePhases;
  private readonly byFinish = new SequenceHeap((a, b) =>
    a.finishAt === b.finishAt ? a.rank < b.rank : a.finishAt < b.finishAt,
  );

  /**
   * @param draftTokens  tokens beyond the next one for which a member may hold blocks
   * @param index  among the sets of the engine
   * @param lag  steps by which windows move later than contexts: batches are formed ahead
   */
  constructor(
    private readonly blocks: SequenceBlocks,
    private readonly draftTokens = 0,
    private readonly index = 0,
    lag = 0,
  ) {
    this.phases = new DecodePhases(blocks, lag);
  }

  /** Steps until the first member ends; Infinity without members. */
  get stepsToFinish(): number {
    const first = this.byFinish.peek();
    return first === undefined ? Infinity : first.finishAt - this.steps;
  }

  /**
   * Adds a sequence that has the blocks for its computed tokens, and for one more when a step has
   * begun.
   */
  join(seq: EngineSequence): void {
    seq.state = 'decoding';
    seq.decodeSet = this.index;
    seq.finishAt = this.steps + seq.outputTokens - seq.emitted;
    seq.contextOffset = seq.computed - this.steps;
    seq.memberIndex = this.size++;
    this.members.push(seq);
    if (this.draftTokens === 0) this.phases.add(seq, this.grownFor === this.steps);
    this.byFinish.push(seq);
    this.contextTokens += seq.computed;
    this.version++;
  }

  /** Adds a sequence again, when a batch is formed, that the previous batch does not have. */
  resume(seq: EngineSequence): void {
    this.grownFor = this.steps - 1;
    this.join(seq);
    seq.burst = NO_TOKEN;
    seq.drafts = this.draftTokens > 0 ? NO_ROW : 0;
  }

  /** Removes a sequence and stores its progress in it. */
  leave(seq: EngineSequence): void {
    seq.computed = this.contextOf(seq);
    seq.emitted = this.emittedBy(seq);
    if (this.draftTokens === 0) this.leavePhase(seq);
    const last = this.members.pop()!;
    this.size--;
    if (last !== seq) {
      this.members[seq.memberIndex] = last;
      last.memberIndex = seq.memberIndex;
    }
    if (seq.heapIndex >= 0) this.byFinish.remove(seq);
    this.contextTokens -= seq.computed;
    this.version++;
  }

  /** Keeps a member that has its last token, without counting it among those that will end. */
  linger(seq: EngineSequence): void {
    this.byFinish.remove(seq);
  }

  /**
   * Gives a member further tokens of a step already counted, at most up to its end; −1 takes back
   * the counted token.
   */
  skip(seq: EngineSequence, tokens: number): void {
    seq.finishAt -= tokens;
    seq.contextOffset += tokens;
    this.contextTokens += tokens;
    this.byFinish.move(seq);
  }

  contextOf(seq: EngineSequence): number {
    return seq.contextOffset + this.steps;
  }

  emittedBy(seq: EngineSequence): number {
    return seq.outputTokens - (seq.finishAt - this.steps);
  }

  /** Updates the block list of a member from its context. */
  settle(seq: EngineSequence): void {
    if (this.draftTokens > 0) return;
    const context = this.contextOf(seq);
    const { blocks, grownFor } = this;
    const isGrown = grownFor === this.steps;
    const isOpen = isGrown && context % blocks.blockSize === 0;
    blocks.list(seq, blocks.layout.blocksFor(context) + (isOpen ? 1 : 0));
    if (blocks.layout.windowed === 0) return;
    blocks.listSlid(seq, this.phases.windowContext(seq, isGrown ? this.steps : this.steps - 1));
  }

  /** Blocks that members need for the step that begins now. */
  get demand(): number {
    return this.phases.countAt(this.steps) * this.phases.perBlock;
  }

  /** Assigns the blocks for the step that begins now; enough must be free. */
  grow(): void {
    if (this.demand > 0 || this.blocks.layout.windowed > 0) this.phases.grow(this.steps);
    this.grownFor = this.steps;
  }

  /** Records that all members got the blocks for this step one by one. */
  hasGrown(): void {
    this.phases.catchUp(this.steps);
    this.grownFor = this.steps;
  }

  /** A member that ended with the last step. */
  takeFinished(): EngineSequence | undefined {
    const first = this.byFinish.peek();
    return first !== undefined && first.finishAt <= this.steps ? first : undefined;
  }

  /** Counts one step. */
  advance(): void {
    this.steps++;
    this.contextTokens += this.size;
  }

  /**
   * Counts `count` steps and assigns the blocks that the step after each of them needs, as single
   * steps would.
   */
  advanceAndGrow(count: number): void {
    this.phases.growBehind(this.steps, count);
    this.steps += count;
    this.grownFor = this.steps;
    this.contextTokens += count * this.size;
  }

  /**
   * The number of `count` further steps after the one under way for which `free` blocks suffice.
   */
  stepsFed(count: number, free: number): number {
    return this.phases.stepsFed(this.steps, count, free);
  }

  /** Recounts the sums that are updated step by step. O(members). */
  audit(): void {
    let context = 0;
    let lingering = 0;
    for (const seq of this.members) {
      context += this.contextOf(seq);
      const isOver = seq.heapIndex < 0;
      lingering += isOver ? 1 : 0;
      const most = isOver ? seq.outputTokens : seq.outputTokens - 1;
      assert(this.emittedBy(seq) <= most, 'a sequence decodes past its end');
      const kvTokens = seq.promptTokens + this.emittedBy(seq) - 1;
      assert(this.contextOf(seq) === kvTokens, 'lost count of a context');
      this.settle(seq);
      const spare = seq.blocks.length * this.blocks.blockSize - kvTokens;
      assert(
        spare >= 0 && spare <= this.blocks.blockSize + 2 * this.draftTokens + this.blocks.lookahead,
        'a sequence has blocks it does not need',
      );
    }
    assert(context === this.contextTokens, 'the decode set has lost count of its context');
    assert(this.byFinish.size + lingering === this.size, 'the decode set is torn');
    if (this.draftTokens === 0) assert(this.phases.size === this.size, 'a phase is torn');
  }

  private leavePhase(seq: EngineSequence): void {
    this.phases.remove(seq);
    this.settle(seq);
    seq.isBehind = false;
  }
}

/**
 * All decoding sequences of an engine: one set per batch that may be in flight, because the
 * sequences of a batch advance together. An engine without pipeline stages has one set.
 */
export class DecodeSets {
  readonly all: readonly DecodeSet[];
  /** The set of the batch that is being formed, or that ended last. */
  current: DecodeSet;

  /**
   * @param draftTokens  tokens beyond the next one for which a sequence may hold blocks
   * @param lag  steps by which windows move later than contexts: batches are formed ahead
   */
  constructor(count: number, blocks: SequenceBlocks, draftTokens = 0, lag = 0) {
    this.all = Array.from({ length: count }, (_, i) => new DecodeSet(blocks, draftTokens, i, lag));
    this.current = this.all[0]!;
  }

  /** The set that a decoding sequence is in. */
  of(seq: EngineSequence): DecodeSet {
    return this.all[seq.decodeSet]!;
  }

  /** Whether the sequence decodes in the current set. */
  isCurrent(seq: EngineSequence): boolean {
    return seq.state === 'decoding' && this.all[seq.decodeSet] === this.current;
  }
}
