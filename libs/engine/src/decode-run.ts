import type { DecodeLaw, StepTimeModel } from '@baton/hardware';
import { assert, EventQueue, type Micros } from '@baton/kernel';
import { BlockList, type BlockPool } from '@baton/kvcache';
import type { Sequence } from './sequence';

/** Where a row of steps over one unchanged batch began: every boundary of the row is computed from here. */
interface Anchor {
  readonly startUs: Micros;
  readonly step: number;
  readonly contextTokens: number;
  readonly law: DecodeLaw;
}

/**
 * The sequences that get one token in every step. Their progress is the step counter itself, so a step costs the same for one and for a
 * thousand: sums for the step time, a heap of finish steps, and a histogram of block phases for the demand of blocks. What a single sequence has
 * done is settled only when somebody asks. Driven by the engine.
 */
export class DecodeRun {
  readonly members: Sequence[] = [];
  /** Steps that this engine's run has taken. */
  step = 0;
  /** Σ tokens attended to in the next step, over the members. */
  contextTokens = 0;
  private readonly phases: Int32Array;
  private finishes = new EventQueue();
  private anchor: Anchor | undefined;
  private publishing = 0;
  /** Blocks taken for the members together, not yet told apart. */
  readonly staged = new BlockList();

  constructor(
    private readonly pool: BlockPool,
    private readonly blockSize: number,
    private readonly byHandle: (handle: number) => Sequence,
  ) {
    this.phases = new Int32Array(blockSize);
  }

  get size(): number {
    return this.members.length;
  }

  /** True while a member's next full block will be findable: a waiting sequence may then fit that does not fit now. */
  get publishesOutputs(): boolean {
    return this.publishing > 0;
  }

  join(sequence: Sequence): void {
    sequence.state = 'decoding';
    sequence.settledAt = this.step;
    sequence.runIndex = this.members.length;
    sequence.finishStep = this.step + sequence.spec.outputTokens - sequence.generated;
    this.members.push(sequence);
    this.contextTokens += sequence.computed + 1;
    this.phases[this.phaseOf(sequence)]! += 1;
    if (this.publishes(sequence)) this.publishing += 1;
    this.finishes.push(sequence.finishStep, 0, sequence.handle);
    this.anchor = undefined;
  }

  /** Takes a member out with all it has done. `underWay`: a step that it takes no part in any more has already staged its block. */
  leave(sequence: Sequence, underWay: boolean): void {
    if (this.publishes(sequence)) this.publishing -= 1;
    this.phases[this.phaseOf(sequence)]! -= 1;
    this.settle(sequence, underWay ? 1 : 0);
    this.contextTokens -= sequence.computed + 1;
    const last = this.members.pop()!;
    if (last !== sequence) {
      this.members[sequence.runIndex] = last;
      last.runIndex = sequence.runIndex;
    }
    sequence.runIndex = -1;
    this.anchor = undefined;
    this.dropStaleFinishes();
  }

  /** Blocks that all members together need to take `steps` further steps. */
  blocksFor(steps: number): number {
    const rounds = Math.floor(steps / this.blockSize);
    let blocks = rounds * this.size;
    for (let i = rounds * this.blockSize; i < steps; i += 1) blocks += this.demandAt(this.step + i);
    return blocks;
  }

  /** The most steps, up to `limit`, whose blocks are among `free`. */
  stepsWithin(free: number, limit: number): number {
    if (this.size === 0) return limit;
    let steps = Math.min(limit, Math.floor(free / this.size) * this.blockSize);
    let left = free - this.blocksFor(steps);
    while (steps < limit && left >= this.demandAt(this.step + steps)) {
      left -= this.demandAt(this.step + steps);
      steps += 1;
    }
    return steps;
  }

  /** End of the `steps`-th step from now, for a row of steps that starts at `startUs`. Undefined: this batch has no closed form. */
  boundaryUs(startUs: Micros, steps: number, model: StepTimeModel): Micros | undefined {
    const anchor = this.anchorAt(startUs, model);
    if (anchor === undefined) return undefined;
    return this.endOf(anchor, this.step - anchor.step + steps);
  }

  /** Steps from now until the first boundary at or after `untilUs`, at least 1. Solves the quadratic of the boundary, then corrects for rounding. */
  stepsUntil(startUs: Micros, untilUs: Micros, model: StepTimeModel): number {
    const anchor = this.anchorAt(startUs, model);
    if (anchor === undefined) return 1;
    if (untilUs === Infinity) return Number.MAX_SAFE_INTEGER;
    const done = this.step - anchor.step;
    const { baseUs, perContextUs } = anchor.law;
    const bend = (perContextUs * this.size) / 2;
    const slope = baseUs + perContextUs * anchor.contextTokens - bend;
    const spanUs = Math.max(0, untilUs - anchor.startUs);
    const roots = (-slope + Math.sqrt(slope * slope + 4 * bend * spanUs)) / (2 * bend);
    let total = Math.max(done + 1, Math.ceil(bend === 0 ? spanUs / slope : roots));
    while (total > done + 1 && this.endOf(anchor, total - 1) >= untilUs) total -= 1;
    while (this.endOf(anchor, total) < untilUs) total += 1;
    return total - done;
  }

  /** Steps from now for which the line of the step time holds. */
  stepsWithinLaw(): number {
    const law = this.anchor?.law;
    if (law === undefined || this.size === 0) return 1;
    if (law.contextLimit === Infinity) return Number.MAX_SAFE_INTEGER;
    return Math.max(1, Math.floor((law.contextLimit - this.contextTokens) / this.size) + 1);
  }

  /** Steps from now until the first member finishes. */
  stepsToFirstFinish(): number {
    this.dropFinishesOfOthers();
    return this.finishes.size === 0 ? Infinity : this.finishes.peekTimeUs() - this.step;
  }

  /** Lets `steps` steps pass; their blocks are staged. */
  advance(steps: number): void {
    this.step += steps;
    this.contextTokens += steps * this.size;
  }

  /** A member that has its last token, or undefined. */
  takeFinished(): Sequence | undefined {
    this.dropFinishesOfOthers();
    if (this.finishes.size === 0 || this.finishes.peekTimeUs() > this.step) return undefined;
    const sequence = this.byHandle(this.finishes.pop());
    assert(sequence.finishStep === this.step, 'no sequence runs past its last token');
    this.leave(sequence, false);
    return sequence;
  }

  /** Brings members whose full blocks others may find up to date. Costs nothing when no output has hashes. */
  publishOutputs(): void {
    if (this.publishing === 0) return;
    for (const sequence of this.members) if (this.publishes(sequence)) this.refresh(sequence);
  }

  tokensOf(sequence: Sequence): number {
    return sequence.generated + this.step - sequence.settledAt;
  }

  private refresh(sequence: Sequence): void {
    this.settle(sequence, 0);
    if (!this.publishes(sequence)) this.publishing -= 1;
  }

  private settle(sequence: Sequence, ahead: number): void {
    const steps = this.step - sequence.settledAt;
    sequence.settledAt = this.step;
    sequence.computed += steps;
    sequence.generated += steps;
    const blocks = Math.ceil((sequence.computed + ahead) / this.blockSize);
    this.handOut(blocks - sequence.blocks.length, sequence.blocks);
    publishFullBlocks(sequence, this.pool, this.blockSize);
  }

  /** Takes the blocks of `steps` further steps, which must be free. */
  stage(blocks: number): void {
    assert(this.pool.take(blocks, this.staged), 'blocks are staged only when they are free');
  }

  private handOut(count: number, into: BlockList): void {
    for (let i = 0; i < count; i += 1) {
      this.staged.length -= 1;
      into.push(this.staged.ids[this.staged.length]!);
    }
  }

  private publishes(sequence: Sequence): boolean {
    return sequence.published < sequence.spec.blockHashes.length;
  }

  /** A member needs a block in those steps whose number is congruent to this, modulo the block size. */
  private phaseOf(sequence: Sequence): number {
    return modulo(sequence.settledAt - sequence.computed, this.blockSize);
  }

  private demandAt(step: number): number {
    return this.phases[step % this.blockSize]!;
  }

  private anchorAt(startUs: Micros, model: StepTimeModel): Anchor | undefined {
    const anchor = this.anchor;
    if (anchor !== undefined && this.contextTokens <= anchor.law.contextLimit) {
      if (this.endOf(anchor, this.step - anchor.step) === startUs) return anchor;
    }
    const law = model.decodeLaw?.(this.size, this.contextTokens);
    const holds = law !== undefined && this.contextTokens <= law.contextLimit;
    this.anchor = holds
      ? { startUs, step: this.step, contextTokens: this.contextTokens, law }
      : undefined;
    return this.anchor;
  }

  /** D(k) = k·(A + c·S) + c·B·k(k−1)/2 after the anchor, each boundary rounded by itself and at least 1 µs a step. */
  private endOf(anchor: Anchor, k: number): Micros {
    const { baseUs, perContextUs } = anchor.law;
    const growth = (perContextUs * this.size * k * (k - 1)) / 2;
    const lengthUs = k * (baseUs + perContextUs * anchor.contextTokens) + growth;
    return anchor.startUs + Math.max(k, Math.round(lengthUs));
  }

  private dropFinishesOfOthers(): void {
    while (this.finishes.size > 0) {
      const sequence = this.peekFinish();
      if (sequence.runIndex >= 0 && sequence.finishStep === this.finishes.peekTimeUs()) return;
      this.finishes.pop();
    }
  }

  private peekFinish(): Sequence {
    return this.byHandle(this.finishes.peek());
  }

  /** Members that left early leave entries behind; the heap is built anew before these outnumber the members. */
  private dropStaleFinishes(): void {
    if (this.finishes.size <= 2 * this.size + 64) return;
    this.finishes = new EventQueue(this.size + 64);
    for (const member of this.members) this.finishes.push(member.finishStep, 0, member.handle);
  }
}

/** Enters the blocks that have become full into the prefix index, as far as their hashes are known. */
export function publishFullBlocks(sequence: Sequence, pool: BlockPool, blockSize: number): void {
  const { blockHashes } = sequence.spec;
  const full = Math.min(Math.floor(sequence.computed / blockSize), blockHashes.length);
  pool.publish(sequence.blocks, blockHashes, { from: sequence.published, to: full });
  sequence.published = Math.max(sequence.published, full);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
