import { assert, type Micros, truncate } from '@baton/kernel';
import { StepScatter } from '@baton/step-time';
import { Accounts } from './accounts';
import { Scheduler } from './scheduler';
import { DecodeSets } from './decode-set';
import { assertOptions, refusalOf } from './engine-limits';
import type { StepShare } from './lockstep/lockstep';
import { cacheStateOf, sharedCacheOf, type CacheState, type FreeContents } from '@baton/kvcache';
import { BatchQueue } from './flights/batch-queue';
import { type EngineSequence, expectState, requestHashOf } from './sequence';
import { SequenceBlocks } from './sequence-blocks';
import { EngineSequenceTable } from './sequence-table';
import { Speculation } from './speculation';
import { StepRecord } from './step-record';
import type { EngineOptions } from './port/engine-options';
import type {
  AdmissionResult,
  EngineCounters,
  EnginePort,
  EngineSnapshot,
  QueueState,
  Reservation,
  SequenceHandle,
  SequenceSpec,
  StepFacts,
} from './port/engine-port';
import { buildScheduling } from './scheduling/build-scheduling';
import { WaitingQueue } from './waiting-queue';

/**
 * One simulated engine: see EnginePort. It owns the sequences and moves them between their states;
 * the scheduler decides which run, the decode set counts, the queue of batches lays steps in time.
 * Reads no clock, awaits nothing, logs nothing.
 */
export class Engine implements EnginePort {
  private readonly table: EngineSequenceTable;
  private readonly accounts: Accounts;
  private readonly blocks: SequenceBlocks;
  private readonly decode: DecodeSets;
  private readonly queue: WaitingQueue;
  private readonly scheduler: Scheduler;
  private readonly record: StepRecord;
  private readonly flights: BatchQueue;
  /** Aborted sequences of the step under way; their blocks are in use until it ends. */
  private readonly doomed: EngineSequence[] = [];
  private readonly drawsPerRequest: boolean;
  private readonly reservation = { handle: 0, missingTokens: 0, missingBlocks: 0, cachedTokens: 0 };
  /** Longest sequence that the blocks hold. */
  private readonly longestTokens: number;
  private readonly now = {
    running: 0,
    waiting: 0,
    deferred: 0,
    waitingTokens: 0,
    freeBlocks: 0,
    heldBlocks: 0,
    leaving: 0,
    kvUsage: 0,
  };

  /** @throws InvariantError when an option makes no sense (not an integer, or out of range). */
  constructor(private readonly options: EngineOptions) {
    assertOptions(options);
    this.drawsPerRequest =
      options.speculation !== undefined || options.stepTime.tokenJitterUs !== undefined;
    const { speculation: requested, seed, stepNoise, name = '' } = options;
    const speculation = requested && new Speculation(requested, seed);
    this.accounts = new Accounts(requested?.tokens ?? 0);
    this.blocks = new SequenceBlocks(options);
    this.table = new EngineSequenceTable(this.blocks);
    this.longestTokens = this.blocks.layout.longest(options.numBlocks);
    const stages = options.stepTime.pipeline?.stages ?? 1;
    const lag = options.asyncScheduling === true ? 1 : 0;
    this.decode = new DecodeSets(stages, this.blocks, requested?.tokens, lag);
    this.queue = new WaitingQueue(buildScheduling(options));
    this.record = new StepRecord(this.decode, requested !== undefined);
    const { table, blocks, decode, queue, record, accounts } = this;
    this.scheduler = new Scheduler({
      options,
      table,
      blocks,
      decode,
      queue,
      record,
      accounts,
      draftTokens: requested?.tokens ?? 0,
    });
    const scatter = stepNoise && new StepScatter(stepNoise, seed, name);
    const work = { options, scheduler: this.scheduler, decode, blocks, accounts, record, queue };
    this.flights = new BatchQueue({ ...work, speculation, scatter });
  }

  get counters(): EngineCounters {
    return this.accounts;
  }

  get acceptedPerPosition(): readonly number[] {
    return this.accounts.acceptedPerPosition;
  }

  submit(spec: SequenceSpec): AdmissionResult {
    const why = refusalOf(spec, this.options, this.longestTokens);
    if (why !== undefined) return { kind: 'refused', why };
    const seq = this.table.add(spec);
    if (this.drawsPerRequest) seq.requestHash = requestHashOf(spec);
    seq.endsByLimit ||= spec.promptTokens + spec.outputTokens === this.options.maxModelLen;
    this.queue.add(seq, seq.remoteTokens > 0 ? 'unreserved' : 'waiting');
    this.scheduler.touch();
    return seq.admission;
  }

  reserveNext(): Reservation | undefined {
    const seq = this.scheduler.reservations.reserved.shift();
    if (seq === undefined) return undefined;
    const { reservation } = this;
    reservation.handle = seq.handle;
    reservation.missingTokens = Math.max(0, seq.remoteTokens - seq.cachedTokens);
    reservation.missingBlocks = this.blocks.missing(seq);
    reservation.cachedTokens = seq.cachedTokens;
    return reservation;
  }

  kvArrived(handle: SequenceHandle): void {
    const seq = this.table.at(handle);
    if (seq.remoteTokens === 0) return;
    expectState(seq, 'deferred', 'deferred');
    this.scheduler.reservations.deferred--;
    const present = Math.max(seq.remoteTokens, seq.cachedTokens);
    this.accounts.cached(seq, seq.cachedTokens);
    this.accounts.transferred(seq, present);
    seq.computed = Math.min(present, seq.promptTokens - 1);
    this.queue.add(seq, 'ready');
    this.scheduler.touch();
  }

  kvFailed(handle: SequenceHandle): void {
    const seq = this.table.at(handle);
    if (seq.remoteTokens === 0) return;
    expectState(seq, 'deferred', 'unreserved');
    this.scheduler.reservations.loseKv(seq);
    this.scheduler.touch();
  }

  abort(handle: SequenceHandle): void {
    const seq = this.table.at(handle);
    if (seq.state === 'gone' || seq.state === 'leaving' || seq.isDoomed) return;
    if (!seq.isOver) this.accounts.aborted++;
    if (seq.isRunning && this.flights.isUnderWay) {
      seq.isDoomed = true;
      this.doomed.push(seq);
    } else {
      this.remove(seq);
    }
  }

  releaseHeld(handle: SequenceHandle): void {
    const seq = this.table.at(handle);
    expectState(seq, 'held', 'held');
    if (!seq.isOver) this.accounts.released++;
    this.remove(seq);
  }

  resetPrefixCache(andHost: boolean, next?: EngineOptions['warmCache']): boolean {
    return this.blocks.forget(andHost, next);
  }

  beginStep(startUs: Micros): Micros | undefined {
    this.table.recycle();
    return this.flights.begin(startUs);
  }

  formStep(startUs: Micros): number | undefined {
    this.table.recycle();
    return this.flights.form(startUs);
  }

  stepEndBeside(share: StepShare): Micros {
    return this.flights.endBeside(share);
  }

  endStepAt(endUs: Micros): void {
    this.flights.endAt(endUs);
  }

  isUnfinished(): boolean {
    const { running, waiting, deferred } = this.gauges();
    return running + waiting + deferred > 0;
  }

  get bringsFirstTokens(): boolean {
    return this.flights.bringsFirstTokens;
  }

  nextUs(untilUs: Micros): Micros {
    return this.flights.nextUs(this.frees ? 0 : untilUs);
  }

  advanceTo(atUs: Micros): void {
    if (!this.frees) this.flights.advanceTo(atUs);
  }

  endStep(): StepFacts {
    const { flights, record } = this;
    if (this.table.freeLate(flights.landing)) this.scheduler.touch();
    if (this.doomed.length > 0) this.removeDoomed();
    flights.land();
    for (let seq = flights.nextFinished(); seq !== undefined; seq = flights.nextFinished()) {
      this.finishSequence(seq);
    }
    for (const seq of flights.held) {
      this.hold(seq);
      record.held.push(seq.handle);
      this.scheduler.touch();
    }
    return record;
  }

  hasWork(): boolean {
    const { scheduler, queue, flights } = this;
    return flights.hasFormed || scheduler.batch.running + queue.size + queue.unreservedSize > 0;
  }

  get hasAdmitted(): boolean {
    return this.record.scheduled.length > 0;
  }

  tokensEmitted(handle: SequenceHandle): number {
    const seq = this.table.at(handle);
    const counted = seq.state === 'decoding' ? this.decode.of(seq).emittedBy(seq) : seq.emitted;
    return counted - this.flights.tokensInFlight(seq);
  }

  tokensInStep(handle: SequenceHandle): number {
    const { steps, firstTokens } = this.record.later;
    const isLate = firstTokens.includes(handle);
    return (isLate ? 0 : 1) + steps + this.table.at(handle).burst;
  }

  tokenIndex(handle: SequenceHandle): number {
    return this.tokensEmitted(handle) - 1;
  }

  tokenOffsetUs(handle: SequenceHandle): number {
    const { stepTime, seed } = this.options;
    const { requestHash } = this.table.at(handle);
    return stepTime.tokenJitterUs?.(seed, requestHash, this.tokenIndex(handle)) ?? 0;
  }

  cachedTokens(handle: SequenceHandle): number {
    return this.table.at(handle).cachedTokens;
  }

  computedTokens(handle: SequenceHandle): number {
    const { computed, inFlight } = this.table.at(handle);
    return computed - inFlight;
  }

  isRunning(handle: SequenceHandle): boolean {
    return this.table.at(handle).isRunning;
  }

  blockIds(handle: SequenceHandle): number[] {
    const seq = this.table.at(handle);
    if (seq.state === 'decoding') this.decode.of(seq).settle(seq);
    return this.blocks.pool.idsOf(seq.blocks);
  }

  snapshot(): EngineSnapshot {
    return { ...this.gauges() };
  }

  /**
   * Like `snapshot`, but every call fills the same object, for a driver that calls often and does
   * not keep the result.
   */
  gauges(): EngineSnapshot {
    const { now, queue } = this;
    const { numBlocks } = this.options;
    now.running = this.scheduler.batch.running;
    const passedOver = Math.min(this.scheduler.reservations.passedOver, queue.size);
    now.waiting = queue.size - passedOver;
    now.deferred = this.scheduler.reservations.deferred + queue.unreservedSize + passedOver;
    now.waitingTokens = queue.tokens;
    now.freeBlocks = this.blocks.pool.freeBlocks;
    now.heldBlocks = this.table.heldBlocks;
    now.leaving = this.table.leaving.length;
    now.kvUsage = (numBlocks - now.freeBlocks) / numBlocks;
    return now;
  }

  /** Generations of `blockIds`; each rises when its block is taken for other content. */
  blockGenerations(handle: SequenceHandle): number[] {
    return this.blockIds(handle).map((block) => this.blocks.pool.generationOf(block));
  }

  /** The findable content, and that of free blocks in order of eviction. O(blocks). */
  cacheState(): CacheState {
    return cacheStateOf(this.blocks.pool);
  }

  sharedCache(): FreeContents {
    return sharedCacheOf(this.blocks.pool, this.table.blockLists());
  }

  get cachedBlocks(): number {
    return this.blocks.pool.cachedBlocks;
  }

  /** The batch under way in order of admission, and what waits without blocks. O(sequences). */
  queueState(): QueueState {
    return { batch: this.scheduler.batch.members(), waiting: this.queue.inOrder() };
  }

  /**
   * Recounts all sums that are updated incrementally. O(blocks + sequences).
   *
   * @throws InvariantError when blocks or sequences were lost, or a count is wrong.
   */
  audit(): void {
    for (const set of this.decode.all) set.audit();
    const live = this.table.live();
    const unlisted = live.map((seq) => this.blocks.unlistedOf(seq));
    this.blocks.pool.audit(
      this.table.blockLists(),
      unlisted.reduce((sum, n) => sum + n, 0),
    );
    const count = (...states: string[]): number =>
      live.filter((seq) => states.includes(seq.state)).length;
    assert(count('waiting', 'ready') === this.queue.size, 'lost count of who waits');
    const running = live.filter((seq) => seq.isRunning).length;
    assert(running === this.scheduler.batch.running, 'lost count of who runs');
    assert(
      count('deferred') === this.scheduler.reservations.deferred,
      'lost count of who is deferred',
    );
    const held = live.filter((seq) => seq.state === 'held');
    const heldBlocks = held.reduce((sum, seq) => sum + this.blocks.heldBy(seq), 0);
    const holding = held.filter((seq) => seq.isOver).length;
    assert(heldBlocks === this.table.heldBlocks, 'lost count of held blocks');
    const { finished, released, aborted, rejected } = this.accounts;
    const still = holding + this.doomed.length + this.table.leaving.length;
    const ended = finished + released + aborted + rejected - still;
    assert(this.table.submitted === ended + live.length, 'a sequence was lost');
  }

  /** Ends a sequence that has its last token and is out of the decode set. */
  private finishSequence(seq: EngineSequence): void {
    this.blocks.publishAtEnd(seq, seq.computed);
    this.record.finished.push(seq.handle);
    this.accounts.finished++;
    if (seq.holdsAtEnd) this.hold(seq);
    else this.table.free(seq, this.lastWriting(seq));
    this.scheduler.touch();
  }

  /** Whether the end of the step under way frees blocks that admit others. */
  private get frees(): boolean {
    return this.table.leaving.length + this.doomed.length > 0;
  }

  private removeDoomed(): void {
    for (const seq of this.doomed) this.remove(seq);
    truncate(this.doomed, 0);
  }

  private hold(seq: EngineSequence): void {
    seq.state = 'held';
    this.blocks.slideAtEnd(seq, seq.computed);
    this.table.heldBlocks += this.blocks.heldBy(seq);
  }

  private remove(seq: EngineSequence): void {
    const lastWriting = this.lastWriting(seq);
    this.takeOut(seq);
    this.table.free(seq, lastWriting);
    this.scheduler.touch();
  }

  /** Removes a sequence from the list of its current state. */
  private takeOut(seq: EngineSequence): void {
    const { reservations } = this.scheduler;
    if (seq.isRunning) this.scheduler.drop(seq);
    else reservations.settle(seq);
    if (seq.state === 'deferred' || reservations.reserved.length > 0)
      reservations.forgetReserved(seq);
    if (seq.state === 'held') this.table.heldBlocks -= this.blocks.heldBy(seq);
    else if (!seq.isRunning && seq.state !== 'deferred') this.queue.remove(seq);
    this.blocks.slideAtEnd(seq, seq.computed);
  }

  /** The last batch in flight that writes to its blocks, when frees are deferred. */
  private lastWriting(seq: EngineSequence): number | undefined {
    return this.scheduler.defersFrees ? this.flights.lastWriting(seq) : undefined;
  }
}
