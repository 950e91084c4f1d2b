import { assert, hashString, type Micros } from '@baton/kernel';
import { BlockPool, PrefixMatch } from '@baton/kvcache';
import { BatchFormer } from './batch-former';
import { DecodeRun, publishFullBlocks } from './decode-run';
import { newSequence, type Sequence, tokensToCompute } from './sequence';
import { RunningList } from './running-list';
import { Tally } from './tally';
import type {
  Admission,
  EngineCounters,
  EngineOptions,
  EnginePort,
  EngineSnapshot,
  Reservation,
  SequenceHandle,
  SequenceSpec,
  StepFacts,
} from './types';
import { WaitingQueue } from './waiting-queue';

interface StepUnderWay {
  endUs: Micros;
  /** 1, or more after `extendStep`. */
  steps: number;
  startUs: Micros;
  /** Boundaries of this batch come from the run's closed form. */
  isPureDecode: boolean;
}

/** One engine: see EnginePort. Owns the sequences and their states; BatchFormer forms batches, DecodeRun counts what decodes. */
export class Engine implements EnginePort {
  private readonly sequences: Sequence[] = [];
  private readonly freeHandles: SequenceHandle[] = [];
  private readonly expired: SequenceHandle[] = [];
  private readonly pool: BlockPool;
  private readonly run: DecodeRun;
  private readonly running = new RunningList();
  private readonly waiting: WaitingQueue;
  private readonly remote: WaitingQueue;
  private readonly former: BatchFormer;
  private readonly tally = new Tally();
  private readonly doomed: Sequence[] = [];
  private readonly facts = {
    endUs: 0,
    steps: 0,
    scheduled: [] as SequenceHandle[],
    emitted: [] as SequenceHandle[],
    held: [] as SequenceHandle[],
    finished: [] as SequenceHandle[],
    preempted: [] as SequenceHandle[],
  };
  private step: StepUnderWay | undefined;
  private submissions = 0;
  private reservedCount = 0;
  private heldBlocks = 0;
  private readonly prefix = new PrefixMatch();

  constructor(private readonly options: EngineOptions) {
    assert(options.maxNumBatchedTokens >= options.maxNumSeqs, 'the token budget covers all slots');
    const byPriority = options.schedulingPolicy === 'priority';
    this.pool = new BlockPool({
      numBlocks: options.numBlocks,
      enablePrefixCaching: options.enablePrefixCaching,
    });
    this.run = new DecodeRun(this.pool, options.blockSize, (handle) => this.get(handle));
    this.waiting = new WaitingQueue(byPriority);
    this.remote = new WaitingQueue(byPriority);
    const { pool, run, running, waiting } = this;
    this.former = new BatchFormer({ options, pool, run, running, waiting });
  }

  get counters(): EngineCounters {
    return this.tally;
  }

  submit(spec: SequenceSpec): Admission {
    const isHold = spec.mode === 'prefill-and-hold';
    const tokens = spec.promptTokens + (isHold ? 0 : spec.outputTokens);
    if (tokens > this.options.maxModelLen) return { kind: 'refused', why: 'exceeds-context' };
    if (Math.ceil(tokens / this.options.blockSize) > this.options.numBlocks) {
      return { kind: 'refused', why: 'exceeds-kv-capacity' };
    }
    const handle = this.freeHandles.pop() ?? this.sequences.length;
    const ids = { requestHash: hashString(spec.requestId), order: this.submissions };
    const sequence = newSequence(handle, spec, ids);
    this.submissions += 1;
    this.sequences[handle] = sequence;
    if (spec.mode === 'remote-prefill') this.remote.add(sequence);
    else this.waiting.add(sequence);
    return { kind: 'accepted', handle };
  }

  reserveNext(): Reservation | undefined {
    const sequence = this.remote.peek();
    if (sequence === undefined || this.running.size >= this.options.maxNumSeqs) return undefined;
    if (this.reservedCount >= this.options.maxNumSeqs) return undefined;
    this.run.publishOutputs();
    const { spec } = sequence;
    const blocks = Math.ceil(spec.promptTokens / this.options.blockSize);
    const full = Math.floor(spec.promptTokens / this.options.blockSize);
    const { prefix } = this;
    this.pool.match(spec.blockHashes, full, prefix);
    const shared = prefix.length;
    const fresh = blocks - shared;
    if (fresh + prefix.idle > this.pool.freeBlocks) return undefined;
    this.pool.share(prefix, sequence.blocks);
    this.pool.take(fresh, sequence.blocks);
    sequence.published = shared;
    sequence.cached = shared * this.options.blockSize;
    sequence.transferred = spec.promptTokens - sequence.cached;
    this.remote.shift();
    sequence.state = 'reserved';
    this.reservedCount += 1;
    return {
      handle: sequence.handle,
      missingTokens: sequence.transferred,
      cachedTokens: sequence.cached,
    };
  }

  kvArrived(handle: SequenceHandle): void {
    const sequence = this.get(handle);
    assert(sequence.state === 'reserved', 'KV arrives where it was reserved');
    this.reservedCount -= 1;
    sequence.computed = sequence.spec.promptTokens;
    publishFullBlocks(sequence, this.pool, this.options.blockSize);
    sequence.computed -= 1;
    sequence.state = 'waiting';
    this.waiting.add(sequence);
  }

  kvFailed(handle: SequenceHandle): void {
    const sequence = this.get(handle);
    assert(
      sequence.state === 'reserved' || sequence.state === 'remote',
      'KV fails where it was awaited',
    );
    if (sequence.state === 'reserved') this.reservedCount -= 1;
    else this.remote.remove(sequence);
    this.pool.release(sequence.blocks);
    sequence.published = 0;
    sequence.transferred = 0;
    sequence.cached = 0;
    sequence.state = 'waiting';
    this.waiting.add(sequence);
  }

  abort(handle: SequenceHandle): void {
    const sequence = this.get(handle);
    if (sequence.state === 'gone' || sequence.isDoomed) return;
    this.tally.aborted += 1;
    const isInStep = sequence.state === 'decoding' || sequence.state === 'prefilling';
    if (this.step !== undefined && isInStep) {
      sequence.isDoomed = true;
      this.doomed.push(sequence);
      return;
    }
    this.takeOut(sequence, false);
    this.retire(sequence);
    this.freeHandles.push(handle);
  }

  releaseHeld(handle: SequenceHandle): void {
    const sequence = this.get(handle);
    assert(sequence.state === 'held', 'what is released was held');
    this.takeOut(sequence, false);
    this.retire(sequence);
    this.freeHandles.push(handle);
  }

  beginStep(startUs: Micros): Micros | undefined {
    assert(this.step === undefined, 'a step ends before the next begins');
    for (const handle of this.expired) this.freeHandles.push(handle);
    this.expired.length = 0;
    this.former.form();
    if (this.former.isEmpty) return undefined;
    const isPureDecode = this.former.batch.chunks.length === 0 && !this.isWarmingUp();
    const endUs = this.endOfStep(startUs, isPureDecode);
    this.step = { startUs, endUs, steps: 1, isPureDecode };
    return endUs;
  }

  extendStep(untilUs: Micros): Micros {
    const { step, run, pool } = this;
    assert(step !== undefined, 'only a step under way is extended');
    const end = run.boundaryUs(step.startUs, 1, this.options.stepTime);
    if (!step.isPureDecode || end === undefined || step.endUs >= untilUs) return step.endUs;
    if (!this.isSettled()) return step.endUs;
    const wanted = Math.min(
      run.stepsUntil(step.startUs, untilUs, this.options.stepTime),
      run.stepsToFirstFinish(),
      run.stepsWithinLaw(),
    );
    const stagedFree = pool.freeBlocks + run.blocksFor(1);
    step.steps = Math.max(1, run.stepsWithin(stagedFree, wanted));
    run.stage(run.blocksFor(step.steps) - run.blocksFor(1));
    step.endUs = run.boundaryUs(step.startUs, step.steps, this.options.stepTime) ?? step.endUs;
    return step.endUs;
  }

  endStep(): StepFacts {
    const { step } = this;
    assert(step !== undefined, 'a step that ends has begun');
    this.step = undefined;
    this.resetFacts(step);
    this.removeDoomed();
    this.advanceDecodes(step.steps);
    for (const sequence of this.former.batch.chunks) this.finishChunk(sequence);
    this.tally.steps += step.steps;
    return this.facts;
  }

  hasWork(): boolean {
    return this.running.size > 0 || this.waiting.size > 0;
  }

  tokensEmitted(handle: SequenceHandle): number {
    const sequence = this.get(handle);
    return sequence.state === 'decoding' ? this.run.tokensOf(sequence) : sequence.generated;
  }

  tokenIndex(handle: SequenceHandle): number {
    return this.tokensEmitted(handle) - 1;
  }

  tokenOffsetUs(handle: SequenceHandle): number {
    const { stepTime, seed } = this.options;
    if (stepTime.tokenJitterUs === undefined) return 0;
    return stepTime.tokenJitterUs(seed, this.get(handle).requestHash, this.tokenIndex(handle));
  }

  cachedTokens(handle: SequenceHandle): number {
    return this.get(handle).cached;
  }

  blockIds(handle: SequenceHandle): number[] {
    return this.get(handle).blocks.toArray();
  }

  snapshot(): EngineSnapshot {
    let waitingTokens = 0;
    this.waiting.forEach((sequence) => {
      waitingTokens += tokensToCompute(sequence) - sequence.computed;
    });
    return {
      running: this.running.size,
      waiting: this.waiting.size,
      deferred: this.remote.size + this.reservedCount,
      waitingTokens,
      freeBlocks: this.pool.freeBlocks,
      heldBlocks: this.heldBlocks,
      kvUsage: this.pool.usage,
    };
  }

  /** Checks block conservation; throws InvariantError when a block is lost or has one owner too many. */
  audit(): void {
    const living = this.sequences.filter((sequence) => sequence.state !== 'gone');
    this.pool.audit([...living.map((sequence) => sequence.blocks), this.run.staged]);
  }

  /** Nothing that waits can come in before a running sequence ends. */
  private isSettled(): boolean {
    if (this.waiting.size === 0) return true;
    return !this.run.publishesOutputs && this.former.batch.preempted.length === 0;
  }

  private get(handle: SequenceHandle): Sequence {
    const sequence = this.sequences[handle];
    assert(sequence !== undefined, 'a handle names a sequence');
    return sequence;
  }

  private isWarmingUp(): boolean {
    return this.tally.steps < this.options.warmupSteps && this.options.warmupPenaltyPercent > 0;
  }

  private endOfStep(startUs: Micros, isPureDecode: boolean): Micros {
    const { stepTime, warmupPenaltyPercent } = this.options;
    const boundary = isPureDecode ? this.run.boundaryUs(startUs, 1, stepTime) : undefined;
    if (boundary !== undefined) return boundary;
    const factor = this.isWarmingUp() ? 1 + warmupPenaltyPercent / 100 : 1;
    return startUs + Math.max(1, Math.round(stepTime.stepUs(this.former.sums) * factor));
  }

  private resetFacts(step: StepUnderWay): void {
    const { facts } = this;
    const { batch } = this.former;
    facts.endUs = step.endUs;
    facts.steps = step.steps;
    facts.emitted.length = 0;
    facts.held.length = 0;
    facts.finished.length = 0;
    facts.scheduled.length = 0;
    facts.preempted.length = 0;
    for (const sequence of batch.scheduled) {
      facts.scheduled.push(sequence.handle);
      this.tally.countLookup(sequence);
    }
    for (const sequence of batch.preempted) facts.preempted.push(sequence.handle);
    this.tally.preemptions += batch.preempted.length;
  }

  private removeDoomed(): void {
    for (const sequence of this.doomed) {
      this.takeOut(sequence, true);
      this.retire(sequence);
      this.expired.push(sequence.handle);
    }
    this.doomed.length = 0;
  }

  private advanceDecodes(steps: number): void {
    const { run, facts } = this;
    for (const sequence of run.members) facts.emitted.push(sequence.handle);
    this.tally.generatedTokens += steps * run.size;
    run.advance(steps);
    for (let done = run.takeFinished(); done !== undefined; done = run.takeFinished()) {
      this.finish(done);
    }
  }

  private finishChunk(sequence: Sequence): void {
    if (sequence.state !== 'prefilling') return;
    sequence.computed += sequence.chunk;
    sequence.chunk = 0;
    publishFullBlocks(sequence, this.pool, this.options.blockSize);
    if (sequence.computed < tokensToCompute(sequence)) return;
    this.former.dropPrefilling(sequence);
    this.tally.countPrompt(sequence);
    if (sequence.spec.mode === 'prefill-and-hold') this.hold(sequence);
    else this.emitFirst(sequence);
  }

  private hold(sequence: Sequence): void {
    this.running.remove(sequence);
    sequence.state = 'held';
    this.heldBlocks += sequence.blocks.length;
    this.facts.held.push(sequence.handle);
  }

  /** The token that follows a prompt, or that follows a recomputation after preemption. */
  private emitFirst(sequence: Sequence): void {
    sequence.generated += 1;
    this.tally.generatedTokens += 1;
    this.facts.emitted.push(sequence.handle);
    if (sequence.generated < sequence.spec.outputTokens) this.run.join(sequence);
    else this.finish(sequence);
  }

  private finish(sequence: Sequence): void {
    this.running.remove(sequence);
    this.retire(sequence);
    this.tally.finished += 1;
    this.facts.finished.push(sequence.handle);
    this.expired.push(sequence.handle);
  }

  /** Removes a sequence from whatever it is in. */
  private takeOut(sequence: Sequence, underWay: boolean): void {
    switch (sequence.state) {
      case 'decoding':
        this.run.leave(sequence, underWay);
        this.running.remove(sequence);
        break;
      case 'prefilling':
        this.former.dropPrefilling(sequence);
        this.running.remove(sequence);
        break;
      case 'waiting':
        this.waiting.remove(sequence);
        break;
      case 'remote':
        this.remote.remove(sequence);
        break;
      case 'reserved':
        this.reservedCount -= 1;
        break;
      case 'held':
        this.heldBlocks -= sequence.blocks.length;
        break;
      case 'gone':
        break;
    }
  }

  private retire(sequence: Sequence): void {
    this.pool.release(sequence.blocks);
    sequence.state = 'gone';
  }
}
