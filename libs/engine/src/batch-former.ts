import type { BatchAggregates } from '@baton/hardware';
import { type BlockPool, PrefixMatch } from '@baton/kvcache';
import { type DecodeRun, publishFullBlocks } from './decode-run';
import type { RunningList } from './running-list';
import { type Sequence, tokensToCompute } from './sequence';
import type { EngineOptions } from './types';
import type { WaitingQueue } from './waiting-queue';

export interface BatchParts {
  readonly options: EngineOptions;
  readonly pool: BlockPool;
  readonly run: DecodeRun;
  readonly running: RunningList;
  readonly waiting: WaitingQueue;
}

/** What one forming of a batch did; reused from step to step. */
export interface FormedBatch {
  /** Sequences with a chunk of prompt (or of a recomputation) in this step. */
  readonly chunks: Sequence[];
  readonly scheduled: Sequence[];
  readonly preempted: Sequence[];
}

type Sums = { -readonly [K in keyof BatchAggregates]: BatchAggregates[K] };

/**
 * Forms the batch of a step as vLLM V1 does: first what runs (decoding sequences one token each, then the next chunk of those that prefill),
 * then what waits, while token budget, sequence slots and blocks last. Owns no sequence; the engine applies the step's outcome.
 */
export class BatchFormer {
  readonly batch: FormedBatch = { chunks: [], scheduled: [], preempted: [] };
  readonly sums: Sums = {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    kvUsage: 0,
  };
  private readonly prefilling: Sequence[] = [];
  private readonly prefix = new PrefixMatch();
  private budget = 0;

  constructor(private readonly parts: BatchParts) {}

  form(): void {
    this.reset();
    this.growDecodes();
    this.continuePrefills();
    if (this.batch.preempted.length === 0) this.admitWaiting();
    this.sumUp();
  }

  get isEmpty(): boolean {
    return this.parts.run.size === 0 && this.batch.chunks.length === 0;
  }

  /** The sequence no longer prefills: it decodes, is held or gone. */
  dropPrefilling(sequence: Sequence): void {
    const at = this.prefilling.indexOf(sequence);
    if (at >= 0) this.prefilling.splice(at, 1);
  }

  private reset(): void {
    this.batch.chunks.length = 0;
    this.batch.scheduled.length = 0;
    this.batch.preempted.length = 0;
    this.budget = this.parts.options.maxNumBatchedTokens;
  }

  private growDecodes(): void {
    const { run, pool } = this.parts;
    while (run.size > 0 && run.blocksFor(1) > pool.freeBlocks) this.preemptNewest(false);
    run.stage(run.blocksFor(1));
    this.budget -= run.size;
  }

  private continuePrefills(): void {
    for (let i = 0; i < this.prefilling.length; i += 1) {
      const sequence = this.prefilling[i]!;
      const chunk = this.chunkOf(sequence);
      if (chunk === 0) continue;
      const blocks = this.blocksFor(sequence, chunk);
      while (blocks > this.parts.pool.freeBlocks && sequence.state === 'prefilling') {
        this.preemptNewest(true);
      }
      if (sequence.state === 'prefilling') this.schedule(sequence, chunk, blocks);
      else i = this.prefilling.length;
    }
  }

  private admitWaiting(): void {
    const { waiting, running, options } = this.parts;
    if (waiting.size > 0) this.parts.run.publishOutputs();
    while (this.budget > 0 && running.size < options.maxNumSeqs) {
      const sequence = waiting.peek();
      if (sequence === undefined) return;
      if (!this.admit(sequence)) {
        if (running.size > 0 || !this.takeBlocksOfWaiting()) return;
      }
    }
  }

  private admit(sequence: Sequence): boolean {
    const { pool, options, waiting, running } = this.parts;
    const { prefix } = this;
    this.matchPrefix(sequence);
    const cachedBlocks = prefix.length;
    const start = Math.max(sequence.computed, cachedBlocks * options.blockSize);
    const chunk = this.limitChunk(tokensToCompute(sequence) - start);
    if (chunk === 0) return false;
    const blocks =
      Math.ceil((start + chunk) / options.blockSize) -
      Math.max(sequence.blocks.length, cachedBlocks);
    if (blocks + prefix.idle > pool.freeBlocks) return false;
    pool.share(prefix, sequence.blocks);
    sequence.computed = start;
    sequence.published = Math.max(sequence.published, cachedBlocks);
    waiting.shift();
    running.append(sequence);
    sequence.state = 'prefilling';
    this.prefilling.push(sequence);
    this.noteFirstSchedule(sequence, cachedBlocks * options.blockSize);
    this.schedule(sequence, chunk, Math.max(0, blocks));
    return true;
  }

  private noteFirstSchedule(sequence: Sequence, cachedTokens: number): void {
    if (sequence.wasScheduled) return;
    sequence.wasScheduled = true;
    if (sequence.spec.mode !== 'remote-prefill') sequence.cached = cachedTokens;
    this.batch.scheduled.push(sequence);
  }

  /** At least one token is always computed: the last prompt token gives the first output token. */
  private matchPrefix(sequence: Sequence): void {
    const { pool, options } = this.parts;
    const holdsBlocks = sequence.blocks.length > 0;
    const most = Math.floor((tokensToCompute(sequence) - 1) / options.blockSize);
    pool.match(sequence.spec.blockHashes, holdsBlocks ? 0 : most, this.prefix);
  }

  private chunkOf(sequence: Sequence): number {
    return this.limitChunk(tokensToCompute(sequence) - sequence.computed);
  }

  private limitChunk(tokens: number): number {
    const { enableChunkedPrefill, longPrefillTokenThreshold, maxNumBatchedTokens } =
      this.parts.options;
    if (!enableChunkedPrefill) {
      const isAlone = this.budget === maxNumBatchedTokens;
      return tokens <= this.budget || isAlone ? tokens : 0;
    }
    const capped =
      longPrefillTokenThreshold > 0 ? Math.min(tokens, longPrefillTokenThreshold) : tokens;
    return Math.min(capped, this.budget);
  }

  private blocksFor(sequence: Sequence, chunk: number): number {
    const needed = Math.ceil((sequence.computed + chunk) / this.parts.options.blockSize);
    return Math.max(0, needed - sequence.blocks.length);
  }

  private schedule(sequence: Sequence, chunk: number, blocks: number): void {
    this.parts.pool.take(blocks, sequence.blocks);
    sequence.chunk = chunk;
    this.batch.chunks.push(sequence);
    this.budget = Math.max(0, this.budget - chunk);
  }

  /** @param isStaged the decoding sequences have their blocks of this step already */
  private preemptNewest(isStaged: boolean): void {
    const victim = this.parts.running.victim(this.parts.options.schedulingPolicy === 'priority');
    if (victim === undefined) return;
    if (this.parts.running.size === 1 && this.takeBlocksOfWaiting()) return;
    if (victim.state === 'decoding') this.parts.run.leave(victim, isStaged);
    else this.withdraw(victim);
    this.parts.running.remove(victim);
    this.forgetComputed(victim);
    victim.state = 'waiting';
    this.parts.waiting.add(victim);
    this.batch.preempted.push(victim);
  }

  private withdraw(victim: Sequence): void {
    this.dropPrefilling(victim);
    const at = this.batch.chunks.indexOf(victim);
    if (at < 0) return;
    this.batch.chunks.splice(at, 1);
    this.budget += victim.chunk;
    victim.chunk = 0;
  }

  /** Blocks go back (what they hold stays findable until evicted); the tokens are computed again later. */
  private forgetComputed(sequence: Sequence): void {
    const { pool, options } = this.parts;
    publishFullBlocks(sequence, pool, options.blockSize);
    pool.release(sequence.blocks);
    sequence.computed = 0;
    sequence.published = 0;
  }

  /**
   * The only running sequence, or the next one where nothing runs, lacks blocks that others hold while they wait for a slot: the last of those
   * gives way, so that nothing wedges. False when no waiting sequence holds any.
   */
  private takeBlocksOfWaiting(): boolean {
    const victim = this.parts.waiting.findLast((other) => other.blocks.length > 0);
    if (victim === undefined) return false;
    this.forgetComputed(victim);
    this.batch.preempted.push(victim);
    return true;
  }

  private sumUp(): void {
    const { sums, parts } = this;
    sums.prefillTokens = 0;
    sums.prefillSeqs = 0;
    sums.prefillQuadratic = 0;
    sums.prefillContext = 0;
    sums.decodeSeqs = parts.run.size;
    sums.decodeContext = parts.run.contextTokens;
    sums.kvUsage = parts.pool.usage;
    for (const sequence of this.batch.chunks) this.addChunk(sequence);
  }

  /** A chunk that computes the one missing token of a known context costs what a decode token costs. */
  private addChunk({ computed, chunk }: Sequence): void {
    const { sums } = this;
    if (chunk === 1 && computed > 0) {
      sums.decodeSeqs += 1;
      sums.decodeContext += computed + 1;
      return;
    }
    sums.prefillTokens += chunk;
    sums.prefillSeqs += 1;
    sums.prefillQuadratic += (computed + chunk) ** 2 - computed ** 2;
    sums.prefillContext += computed;
  }
}
