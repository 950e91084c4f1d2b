import { type Micros, RowQueue } from '@baton/kernel';
import type { EngineRecord } from '@baton/analysis';
import {
  Engine,
  type LockstepRank,
  type SequenceHandle,
  type SequenceSpec,
  type StepFacts,
  type StepShare,
} from '@baton/engine';
import { type EngineView, Room } from '@baton/placement';
import { type Calendar, TIE } from './calendar';
import type { LockstepGroup } from './lockstep-group';
import type { EnginePool } from './scenario';

/** `starting` engines load, `draining` ones take nothing more, `gone` ones have left. */
export type EngineState = 'starting' | 'ready' | 'draining' | 'gone';

const NOTHING_INCOMING = { sequences: 0, promptTokens: 0 };

/**
 * One engine on the virtual clock: steps lie end to end, and a step that nothing can change stands
 * for as many as that lasts. A caller that changes something calls `interrupt` first, which takes
 * the rest of a leap back. It maps each sequence to its row of the workload.
 */
export class VirtualEngine implements LockstepRank {
  readonly engineId: string;
  readonly engine: Engine;
  readonly room: Room;
  /** Rows that a policy sent here and that have no room yet. */
  readonly directed = new RowQueue();
  /** Rows in here or on their way here. */
  load = 0;
  /** Prompt tokens of `directed`. */
  directedTokens = 0;
  state: EngineState = 'starting';
  readyUs: Micros = 0;
  goneUs: Micros = -1;
  busyUs: Micros = 0;
  /** Bytes received over its link. */
  kvTransferBytes = 0;
  leaseExpiries = 0;
  /** Reads that wait for blocks here. */
  waitingForRoom = 0;
  /** The counter of generated tokens after the last step. */
  generatedBefore = 0;
  /** The last step has made room, or pulls have got theirs, and nothing was taken since. */
  mayTakeMore = false;
  private rows = new Int32Array(64);
  /** Sequences whose KV has come since the last step began. */
  private readonly arrived: SequenceHandle[] = [];
  private arrivals = 0;
  private stepping = false;
  private mayExtend = false;

  constructor(
    readonly index: number,
    private readonly parts: {
      readonly pool: EnginePool;
      readonly poolIndex: number;
      /** Its place among the engines that began in its pool, from 0. */
      readonly place: number;
      readonly calendar: Calendar;
      readonly leap: boolean;
      /** Content ids of the workload are 1 up to this. */
      readonly contentCount: number;
      /** Unset: it steps by itself. */
      readonly group?: LockstepGroup | undefined;
    },
  ) {
    this.engineId = `${parts.pool.role}-${index}`;
    const { pool, contentCount, place } = parts;
    const name = `${pool.role}-${place}`;
    this.engine = new Engine({ ...pool.options, contentCount, name });
    this.room = new Room(parts.pool.role, parts.pool.options);
  }

  get pool(): EnginePool {
    return this.parts.pool;
  }

  /** The ranks that it steps together with, itself among them. */
  get group(): LockstepGroup | undefined {
    return this.parts.group;
  }

  get poolIndex(): number {
    return this.parts.poolIndex;
  }

  get isStepping(): boolean {
    return this.stepping;
  }

  /** Nothing runs, waits, or is held for others. */
  get isEmpty(): boolean {
    return this.load === 0 && !this.stepping && this.engine.gauges().heldBlocks === 0;
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  hasRoom(nowUs: Micros): boolean {
    return this.room.left(this.engine.gauges(nowUs), NOTHING_INCOMING, this.waitingForRoom) > 0;
  }

  /** Must come before anything that changes the engine. */
  interrupt(nowUs: Micros): void {
    if (!this.stepping || !this.mayExtend) return;
    this.mayExtend = false;
    const endUs = this.engine.cutStep(nowUs);
    this.parts.calendar.set(this.index, endUs, TIE.stepEnd);
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

  /** Something may be able to run: a step begins at this instant unless one is under way. */
  wake(nowUs: Micros): void {
    const { group } = this.parts;
    if (group !== undefined) group.wake(nowUs);
    else if (!this.stepping) this.parts.calendar.set(this.index, nowUs, TIE.stepBegin);
  }

  /**
   * The KV of the sequence is here: it counts from the next step on, as live engines take notice of
   * it.
   */
  kvArrived(handle: SequenceHandle, nowUs: Micros): void {
    this.interrupt(nowUs);
    this.arrived[this.arrivals++] = handle;
    this.wake(nowUs);
  }

  begin(nowUs: Micros): void {
    const { calendar, leap } = this.parts;
    this.takeArrived();
    let endUs = this.engine.beginStep(nowUs);
    if (endUs === undefined) {
      calendar.clear(this.index);
      return;
    }
    this.stepping = true;
    if (this.engine.hasAdmittedAhead) this.mayTakeMore = true;
    if (leap) {
      const singleUs = endUs;
      endUs = this.engine.extendStep(Infinity);
      this.mayExtend = endUs > singleUs;
    }
    calendar.set(this.index, endUs, TIE.stepEnd);
  }

  formStep(startUs: Micros): number | undefined {
    this.takeArrived();
    const tokens = this.engine.formStep(startUs);
    this.stepping = tokens !== undefined;
    if (this.engine.hasAdmittedAhead) this.mayTakeMore = true;
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

  /** The step that is due has ended; the next one is not begun yet. */
  end(): StepFacts {
    const facts = this.engine.endStep();
    this.stepping = false;
    this.mayExtend = false;
    this.busyUs += facts.endUs - facts.startUs;
    const { scheduled, finished, held, rejected } = facts;
    const left = finished.length + held.length + rejected.length;
    this.mayTakeMore = scheduled.length + left > 0;
    const { calendar, group } = this.parts;
    if (group === undefined) calendar.set(this.index, facts.endUs, TIE.stepBegin);
    return facts;
  }

  record(endUs: Micros, usage: { mean: number; max: number }): EngineRecord {
    const { engine, pool } = this;
    const { counters } = engine;
    const untilUs = this.goneUs < 0 ? endUs : this.goneUs;
    return {
      engineId: this.engineId,
      role: pool.role,
      gpus: pool.gpus,
      numBlocks: pool.options.numBlocks,
      steps: counters.steps,
      busyUs: this.busyUs,
      upUs: Math.max(0, untilUs - this.readyUs),
      promptTokensComputed: counters.promptTokensComputed,
      promptTokensCached: counters.promptTokensCached,
      promptTokensTransferred: counters.promptTokensTransferred,
      prefixQueriesTokens: counters.prefixQueriesTokens,
      prefixHitsTokens: counters.prefixHitsTokens,
      generatedTokens: counters.generatedTokens,
      preemptions: counters.preemptions,
      finished: counters.finished,
      kvTransferBytes: this.kvTransferBytes,
      kvUsageMean: usage.mean,
      kvUsageMax: usage.max,
      leaseExpiries: this.leaseExpiries,
    };
  }

  /** The view of this engine for a policy, now. */
  describe(view: { -readonly [K in keyof EngineView]: EngineView[K] }, nowUs: Micros): void {
    const { waitingTokens, kvUsage } = this.engine.gauges(nowUs);
    const { numBlocks, blockSize } = this.pool.options;
    view.requests = this.load + this.directed.length;
    view.waitingTokens = waitingTokens + this.directedTokens;
    view.kvUsage = kvUsage;
    view.kvTokens = kvUsage * numBlocks * blockSize;
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
