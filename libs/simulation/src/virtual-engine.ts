import { engineName, Fifo, type Micros } from '@baton/kernel';
import type { EngineRecord } from '@baton/analysis';
import {
  type LockstepRank,
  type StepShare,
  Engine,
  type EngineOptions,
  type SequenceHandle,
  type SequenceSpec,
  type StepFacts,
} from '@baton/engine';
import type { FreeContents, KvPoolMember } from '@baton/kvcache';
import { Room } from '@baton/policies';
import type { AdapterBook } from './adapter-book';
import { type Calendar, TIE } from './calendar';
import type { LockstepGroup } from './ranks/lockstep-group';
import { poolRecord } from './caches/pool-record';
import type { EnginePool } from './scenario';
import type { QueueTaker, TakingOrder } from './taking-order';

/** `starting` engines load, `draining` ones take no more work, `gone` ones have left. */
export type EngineState = 'starting' | 'ready' | 'draining' | 'gone';

const NOTHING_INCOMING = { sequences: 0, promptTokens: 0 };

/** Is called before each change of an engine. */
export interface EngineWatcher {
  onChange(engine: VirtualEngine): void;
}

export interface VirtualEngineParts {
  readonly pool: EnginePool;
  readonly poolIndex: number;
  readonly place: number;
  readonly calendar: Calendar;
  readonly watcher: EngineWatcher;
  readonly leap: boolean;
  /**
   * Those of the pool, with the number of contents. Engines share the object, so that it stays in
   * the processor's cache however many there are.
   */
  readonly options: EngineOptions;
  readonly group?: LockstepGroup | undefined;
  readonly kvPool?: KvPoolMember | undefined;
  readonly adapters?: AdapterBook | undefined;
}

function nameOf({ pool, place }: VirtualEngineParts): string {
  const size = pool.dataParallel?.size ?? 1;
  if (size === 1) return engineName(pool.role, place);
  return engineName(pool.role, Math.floor(place / size), place % size);
}

/** Compares an engine's load with that of others. */
export interface Ranked {
  /** The load has changed. */
  markStale(): void;
}

/** How full an engine is over a run: its batch, and its KV cache. */
export type Fullness = Pick<EngineRecord, 'runningMean' | 'kvUsageMean' | 'kvUsageMax'>;

/**
 * One engine on the virtual clock. Steps follow each other without gaps, by themselves as long as
 * nothing but tokens can happen. A caller that changes something calls `interrupt` first, so that
 * the step then under way ends in the calendar; one that reads calls `bringTo`. It maps each
 * sequence to its row of the workload.
 */
export class VirtualEngine implements LockstepRank, QueueTaker {
  /** Its name: unlike a live one, it is never used again in a run. */
  readonly engineId: string;
  readonly engine: Engine;
  readonly room: Room;
  /** Rows that a policy sent here and that wait for room. */
  readonly directed = new Fifo<number>();
  /** Prompt tokens of each of `directed` that the engine probably had not cached. */
  private readonly uncached = new Fifo<number>();
  /** The sum of them. */
  directedTokens = 0;
  /** Rows that come here after their prompt is computed elsewhere, and their prompt tokens. */
  readonly expected = { rows: 0, tokens: 0 };
  state: EngineState = 'starting';
  readyUs: Micros = 0;
  /** Instant at which its GPUs became free; undefined until then. */
  goneUs: Micros | undefined;
  busyUs: Micros = 0;
  /** The part of `busyUs` in steps that computed prompts. */
  prefillBusyUs: Micros = 0;
  /** Bytes received over its link. */
  kvTransferBytes = 0;
  leaseExpiries = 0;
  /** Set once the engine is compared with others. */
  ranked: Ranked | undefined = undefined;
  lastTurn = 0;
  takesIn: TakingOrder<this> | undefined = undefined;
  isPassedOver = false;
  /** The counter of generated tokens after the last step. */
  generatedBefore = 0;
  /**
   * True when a step that has begun or ended made room, or pulls got their room, and nothing has
   * been taken since.
   */
  mayTakeMore = false;
  private rows = new Int32Array(64);
  /** Sequences whose KV has arrived since the last step began. */
  private readonly arrived: SequenceHandle[] = [];
  private arrivals = 0;
  /** Time from ready to gone of earlier engines in this object. */
  private upBeforeUs: Micros = 0;
  private stepping = false;
  private leaping = false;
  private computedBefore = 0;
  private readsWithoutRoom = 0;
  private rowsInside = 0;

  readonly pool: EnginePool;
  readonly poolIndex: number;
  /** Number of the engine among all that have started in its pool, from 0. */
  readonly place: number;
  /** The ranks of its engine, including itself, which step together; unset: it steps by itself. */
  readonly group: LockstepGroup | undefined;
  /** The engine's node in the KV pool; undefined without a pool. */
  readonly kvPool: KvPoolMember | undefined;
  /** Undefined when the workload has no adapters. */
  readonly adapters: AdapterBook | undefined;
  private readonly calendar: Calendar;
  private readonly watcher: EngineWatcher;
  private readonly leap: boolean;

  constructor(
    readonly index: number,
    parts: VirtualEngineParts,
  ) {
    this.pool = parts.pool;
    this.poolIndex = parts.poolIndex;
    this.place = parts.place;
    this.group = parts.group;
    this.kvPool = parts.kvPool;
    this.adapters = parts.adapters;
    this.calendar = parts.calendar;
    this.watcher = parts.watcher;
    this.leap = parts.leap;
    const { pool, options, place, kvPool } = parts;
    this.engineId = nameOf(parts);
    const warmCache = pool.warmCaches?.[place];
    const own = {
      ...(options.stepNoise && { name: `${pool.role}-${place}` }),
      ...(kvPool && { kvPool }),
      ...(warmCache && { warmCache }),
    };
    this.engine = new Engine(Object.keys(own).length === 0 ? options : { ...options, ...own });
    this.room = new Room(pool.role, pool.options);
  }

  get isStepping(): boolean {
    return this.stepping;
  }

  /** True when steps end and begin by themselves, so that blocks fill meanwhile. */
  get isLeaping(): boolean {
    return this.leaping;
  }

  /** True when nothing runs, waits, or is held for others. */
  get isEmpty(): boolean {
    return this.load === 0 && !this.stepping && this.engine.gauges().heldBlocks === 0;
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Rows in the engine or on their way to it. */
  get load(): number {
    return this.rowsInside;
  }

  get isIdle(): boolean {
    return this.rowsInside === 0;
  }

  enter(row: number): void {
    this.rowsInside++;
    this.adapters?.enter(row);
    if (this.rowsInside === 1) this.takesIn?.onChange(this);
    this.ranked?.markStale();
  }

  leave(row: number): void {
    this.rowsInside--;
    this.adapters?.leave(row);
    if (this.isIdle) this.takesIn?.onChange(this);
    this.ranked?.markStale();
  }

  /** Queues a row that a policy sends here. @param uncached prompt tokens to compute, probably */
  direct(row: number, uncached: number): void {
    this.directed.push(row);
    this.uncached.push(uncached);
    this.directedTokens += uncached;
    this.ranked?.markStale();
  }

  /** Takes the first of `directed` out. */
  takeDirected(): number {
    this.directedTokens -= this.uncached.shift()!;
    this.ranked?.markStale();
    return this.directed.shift()!;
  }

  /** Reads that wait for blocks here. */
  get waitingForRoom(): number {
    return this.readsWithoutRoom;
  }

  hasRoom(nowUs: Micros): boolean {
    this.bringTo(nowUs);
    return this.room.left(this.engine.gauges(), NOTHING_INCOMING, this.waitingForRoom) > 0;
  }

  awaitRoom(): void {
    this.readsWithoutRoom++;
  }

  /** A read has its blocks, or no longer needs any. */
  stopAwaitingRoom(): void {
    this.noteChange();
    this.readsWithoutRoom--;
  }

  /** Call it before anything that changes the engine. */
  interrupt(nowUs: Micros): void {
    this.noteChange();
    if (!this.leaping) return;
    this.engine.advanceTo(nowUs);
    this.leaping = false;
    this.calendar.set(this.index, this.engine.nextUs(nowUs), TIE.stepEnd);
  }

  /** Call it before reading anything of the engine that changes while steps follow each other. */
  bringTo(nowUs: Micros): void {
    if (!this.leaping) return;
    this.watcher.onChange(this);
    this.engine.advanceTo(nowUs);
  }

  /** Returns undefined when the sequence can never run here. */
  submit(row: number, spec: SequenceSpec): SequenceHandle | undefined {
    const admission = this.engine.submit(spec);
    if (admission.kind === 'refused') return undefined;
    const { handle } = admission;
    if (handle >= this.rows.length) this.growRows();
    this.rows[handle] = row;
    return handle;
  }

  rowOf(handle: SequenceHandle): number {
    return this.rows[handle]!;
  }

  /**
   * Call it when something may have become ready to run. A step begins at the end of this instant
   * unless one is under way or there is nothing to do.
   */
  wake(nowUs: Micros): void {
    const { group } = this;
    if (group !== undefined) group.wake(nowUs);
    else if (!this.stepping && !this.hasNothingToDo) {
      this.calendar.form(this.index);
    }
  }

  /** True when a step would find nothing to do, and the engine stays. */
  get hasNothingToDo(): boolean {
    if (this.state !== 'ready' || this.group !== undefined) return false;
    return this.arrivals === 0 && !this.engine.hasWork();
  }

  /** The KV of the sequence has arrived: it counts from the next step on, as on live engines. */
  kvArrived(handle: SequenceHandle, nowUs: Micros): void {
    this.interrupt(nowUs);
    this.arrived[this.arrivals++] = handle;
    this.wake(nowUs);
  }

  /**
   * @param leapsAtOnce whether first tokens may come within a leap, because nothing waits for the
   * stage, and no observer needs them at their instant
   * @param readUs  when counters are read next; a leap ends before, so that they lack no step
   */
  begin(nowUs: Micros, leapsAtOnce: boolean, readUs: Micros): void {
    const { calendar, leap, adapters } = this;
    this.noteChange();
    this.takeArrived();
    const endUs = this.engine.beginStep(nowUs);
    this.ranked?.markStale();
    if (endUs === undefined) return;
    this.stepping = true;
    if (this.engine.hasAdmitted) this.mayTakeMore = true;
    let dueUs = endUs;
    const mayLeap = leapsAtOnce && adapters === undefined;
    if (leap && (mayLeap || !this.engine.bringsFirstTokens)) {
      // It is the first boundary after that. Steps grow with their context, by less than half.
      dueUs = this.engine.nextUs(readUs - 2 * (endUs - nowUs));
    }
    this.leaping = dueUs > endUs;
    calendar.set(this.index, dueUs, TIE.stepEnd);
  }

  formStep(startUs: Micros): number | undefined {
    this.noteChange();
    this.takeArrived();
    const tokens = this.engine.formStep(startUs);
    this.ranked?.markStale();
    this.stepping = tokens !== undefined;
    if (this.engine.hasAdmitted) this.mayTakeMore = true;
    return tokens;
  }

  stepEndBeside(share: StepShare): Micros {
    return this.engine.stepEndBeside(share);
  }

  endStepAt(endUs: Micros): void {
    this.engine.endStepAt(endUs);
  }

  isUnfinished(): boolean {
    return this.engine.isUnfinished();
  }

  /** The step that is due now has ended; the next one is not begun yet. */
  endStep(nowUs: Micros): StepFacts {
    this.noteChange();
    this.engine.advanceTo(nowUs);
    const facts = this.engine.endStep();
    this.stepping = false;
    this.leaping = false;
    this.countBusy(facts);
    const { scheduled, finished, held, rejected } = facts;
    this.mayTakeMore = finished.length + held.length + rejected.length > 0;
    const { calendar, adapters } = this;
    if (adapters) for (const handle of scheduled) adapters.begin(this.rowOf(handle));
    calendar.clear(this.index);
    return facts;
  }

  /** Starts a new engine on the GPUs of one that left. It loads, and its cache is empty. */
  startAgain(): void {
    this.upBeforeUs += this.goneUs! - this.readyUs;
    this.goneUs = undefined;
    this.readyUs = Infinity;
    this.state = 'starting';
    this.engine.resetPrefixCache(true);
  }

  /** Gives a loading engine the prefix cache with which it begins. */
  warm(cache: FreeContents): void {
    this.engine.resetPrefixCache(false, cache);
  }

  record(endUs: Micros, fullness: Fullness): EngineRecord {
    const { engine, pool } = this;
    const { counters } = engine;
    const untilUs = this.goneUs ?? endUs;
    return {
      engineId: this.engineId,
      role: pool.role,
      gpus: pool.gpus,
      numBlocks: pool.options.numBlocks,
      maxNumSeqs: pool.options.maxNumSeqs,
      maxNumBatchedTokens: pool.options.maxNumBatchedTokens,
      steps: counters.steps,
      busyUs: this.busyUs,
      prefillBusyUs: this.prefillBusyUs,
      upUs: this.upBeforeUs + Math.max(0, untilUs - this.readyUs),
      promptTokensComputed: counters.promptTokensComputed,
      promptTokensCached: counters.promptTokensCached,
      promptTokensTransferred: counters.promptTokensTransferred,
      prefixQueriesTokens: counters.prefixQueriesTokens,
      prefixHitsTokens: counters.prefixHitsTokens,
      generatedTokens: counters.generatedTokens,
      preemptions: counters.preemptions,
      finished: counters.finished,
      kvTransferBytes: this.kvTransferBytes,
      ...fullness,
      leaseExpiries: this.leaseExpiries,
      ...(this.kvPool && { kvPool: poolRecord(this.kvPool, counters) }),
    };
  }

  /** Only the first of several steps can compute prompts. */
  private countBusy({ startUs, firstEndUs, endUs }: StepFacts): void {
    this.busyUs += endUs - startUs;
    const { promptTokensComputed: computed } = this.engine.counters;
    if (computed !== this.computedBefore) this.prefillBusyUs += firstEndUs - startUs;
    this.computedBefore = computed;
  }

  private noteChange(): void {
    this.watcher.onChange(this);
    if (this.isPassedOver) this.takesIn?.onChange(this);
  }

  private takeArrived(): void {
    for (let i = 0; i < this.arrivals; i++) this.engine.kvArrived(this.arrived[i]!);
    this.arrivals = 0;
  }

  private growRows(): void {
    const grown = new Int32Array(this.rows.length * 2);
    grown.set(this.rows);
    this.rows = grown;
  }
}
