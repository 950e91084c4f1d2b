import { type Micros, NOT_YET, truncate } from '@baton/kernel';
import { Batch } from './batch';
import { Budget } from './budget';
import type { DecodeSet } from './decode-set';
import { Preemption, type PreemptionParts } from './preemption';
import { Reservations } from './reservations';
import type { EngineSequence } from './sequence';
import type { EngineSequenceTable } from './sequence-table';
import type { EngineOptions } from './port/engine-options';

export interface SchedulerParts extends PreemptionParts {
  readonly table: EngineSequenceTable;
}

/** How the decoding sequences get their tokens of a batch. */
type Turns = 'none' | 'together' | 'in line';

/**
 * vLLM V1's scheduler, in the order of its `Scheduler.schedule`: first the running sequences, one
 * token for each that decodes and the next chunk for each prompt under way, then waiting ones. The
 * README of the lib names for each decision of vLLM the function that takes it here. The engine
 * applies the results of the step.
 */
export class Scheduler {
  readonly batch: Batch;
  readonly reservations: Reservations;
  /**
   * Blocks stay with a sequence while a batch in flight writes to them, as with vLLM's
   * `defer_block_free`: KV that comes from elsewhere could be overwritten.
   */
  readonly defersFrees: boolean;
  private readonly budget: Budget;
  private readonly preemption: Preemption;
  private turns: Turns = 'none';
  private hasPreempted = false;
  /** True when blocks, slots or waiting sequences have changed since the last admission ended. */
  private isStale = false;
  /** Time at which the batch is formed. */
  private nowUs: Micros = NOT_YET;
  /** Number of ended steps when new sequences were last received outside of the interval. */
  private receivedAt = 0;
  private admissions = 0;
  /** Whether the batch computes prompts that were admitted before (`prefill_scheduled`). */
  private hasPrompts = false;
  /** Whether sequences run that were admitted before. */
  private hasRunning = false;
  /** Sequences that this batch admits and computes as a whole (not in `_inflight_prefills`). */
  private readonly wholes: EngineSequence[] = [];
  /** LoRA adapters of running sequences (`scheduled_loras`). Undefined: they are not limited. */
  private readonly adapters: Set<number> | undefined;
  /** The running sequences whose turn it is, one after the other. */
  private readonly line: EngineSequence[] = [];
  private readonly skipped: EngineSequence[] = [];
  private readonly blocks: SchedulerParts['blocks'];
  private readonly queue: SchedulerParts['queue'];
  private readonly decode: SchedulerParts['decode'];
  private readonly options: SchedulerParts['options'];
  private readonly draftTokens: SchedulerParts['draftTokens'];
  private readonly accounts: SchedulerParts['accounts'];
  private readonly record: SchedulerParts['record'];
  private readonly table: SchedulerParts['table'];

  constructor(parts: SchedulerParts) {
    this.blocks = parts.blocks;
    this.queue = parts.queue;
    this.decode = parts.decode;
    this.options = parts.options;
    this.draftTokens = parts.draftTokens;
    this.accounts = parts.accounts;
    this.record = parts.record;
    this.table = parts.table;
    const { asyncScheduling, hasConnector, freesAtOnce, maxAdapters } = parts.options;
    const overlap = asyncScheduling === true || parts.decode.all.length > 1;
    this.batch = new Batch(parts);
    this.budget = new Budget(parts);
    this.preemption = new Preemption(parts, this.batch);
    this.reservations = new Reservations(parts, this.batch);
    this.defersFrees = overlap && hasConnector === true && freesAtOnce !== true;
    this.adapters = maxAdapters === undefined ? undefined : new Set();
  }

  set formsAhead(formsAhead: boolean) {
    this.preemption.formsAhead = formsAhead;
  }

  /** Whether the next step can admit a sequence without any change before it. */
  get mayAdmitNext(): boolean {
    return this.hasWaiting && (this.isStale || this.mayGainRoom);
  }

  /** Records that blocks, slots or waiting sequences have changed. */
  touch(): void {
    this.isStale = true;
  }

  /** Takes a running sequence out of the batch; its computed blocks stay in the prefix cache. */
  drop(seq: EngineSequence): void {
    this.blocks.publish(seq, this.preemption.leave(seq, seq.isDoomed));
    this.touch();
  }

  /**
   * `schedule`: forms the batch of a step. Returns whether anything runs in it.
   *
   * @param isAhead the step before is under way
   */
  form(nowUs: Micros, isAhead = false): boolean {
    const { batch, budget } = this;
    const { queue, decode, options } = this;
    this.nowUs = nowUs;
    if (batch.chunkTokens > 0) this.receive();
    batch.begin(isAhead);
    budget.begin(batch.running + queue.length + this.reservations.deferred);
    this.hasPreempted = false;
    if (options.promptsFirst === true && this.formOfPrompts()) return true;
    batch.resume();
    this.scheduleRunning(decode.current);
    if (!this.hasPreempted && this.mayAdmitNext) this.scheduleWaiting(budget.isUsed);
    return budget.isUsed;
  }

  /** SGLang: forms a batch of prompts alone; returns whether there are any to compute. */
  private formOfPrompts(): boolean {
    const { batch, budget } = this;
    this.scheduleRunning(undefined);
    const waits = this.decode.current.size + batch.stalled.length > 0;
    if (!this.hasPreempted && this.mayAdmitNext) this.scheduleWaiting(budget.isUsed || waits);
    if (batch.chunkTokens === 0) return false;
    batch.stallAll();
    return true;
  }

  /**
   * `schedule`, "First, schedule the RUNNING requests". The decode set is one item of this loop
   * when blocks and tokens suffice for all; otherwise its members are items of their own.
   *
   * @param decode  undefined: prompts only
   */
  private scheduleRunning(decode: DecodeSet | undefined): void {
    const { budget } = this;
    const inLine = decode === undefined || this.runTogether(decode) ? undefined : decode;
    this.turns = decode === undefined ? 'none' : inLine === undefined ? 'together' : 'in line';
    if (inLine === undefined && this.batch.prefilling.length === 0) return;
    const line = this.lineUp(inLine);
    let next = 0;
    while (next < line.length && budget.tokens > 0 && this.takeTurn(line[next]!)) next++;
    for (; next < line.length; next++) this.leaveOut(line[next]!);
    inLine?.hasGrown();
  }

  /** Runs a sequence if it can. Returns false if this and all behind it are left out. */
  private takeTurn(seq: EngineSequence): boolean {
    // A sequence before it may have preempted it.
    if (!mayRun(seq)) return true;
    const computed = this.computedOf(seq);
    const tokens = this.newTokensOf(seq, computed);
    if (tokens === 0) return true;
    if (!this.allocateSlots(seq, computed + tokens)) return !mayRun(seq);
    this.run(seq, tokens);
    return true;
  }

  /**
   * Gives each member of the decode set a token and its block, if tokens and blocks suffice for all
   * running sequences in any order. With drafts each member needs a look of its own.
   */
  private runTogether(decode: DecodeSet): boolean {
    if (this.draftTokens > 0) {
      // A sequence that finds a block which this step publishes needs no free block for it.
      this.touch();
      return false;
    }
    if (decode.demand > this.blocks.pool.freeBlocks) return false;
    if (this.batch.prefilling.length > 0 && !this.sufficesForPrompts(decode)) return false;
    decode.grow();
    this.budget.tokens -= decode.size;
    return true;
  }

  /**
   * Whether prompts under way find blocks and tokens beside the decode set. Their blocks only
   * matter with windows, where a sequence may free some before a later one takes its own, and where
   * those behind a sequence without blocks are left out; else the last in line gives up its own in
   * either order. Their tokens only matter to decoding sequences behind them that were admitted to
   * a batch without them.
   */
  private sufficesForPrompts({ demand, members }: DecodeSet): boolean {
    const { defersFrees, budget } = this;
    const { prefilling } = this.batch;
    const { layout, pool } = this.blocks;
    if (layout.windowed === 0 && !defersFrees) return true;
    let blocks = pool.freeBlocks - demand;
    let tokens = budget.tokens - members.length;
    for (const seq of prefilling) {
      const wanted = budget.wanted(seq, seq.computed);
      tokens -= wanted;
      blocks -= layout.lacking(budget.slotsFor(seq.computed + wanted), seq.blocks.length);
    }
    if (blocks < 0) return false;
    const [first] = prefilling;
    return tokens >= 0 || !defersFrees || !members.some(({ rank }) => rank > first!.rank);
  }

  /**
   * The running sequences in order of admission, which is that of vLLM's `running`: prompts under
   * way, and the members of `decode` with their blocks as of now. A copy, because preemption
   * changes the originals.
   */
  private lineUp(decode: DecodeSet | undefined): readonly EngineSequence[] {
    const { line } = this;
    truncate(line, 0);
    for (const seq of this.batch.prefilling) line.push(seq);
    if (decode === undefined) return line;
    for (const seq of decode.members) {
      decode.settle(seq);
      this.blocks.publish(seq, this.processedOf(seq));
      line.push(seq);
    }
    return line.sort((a, b) => a.rank - b.rank);
  }

  /**
   * `num_computed_tokens`: tokens in KV when the batches in flight have ended, as if all of their
   * drafts were accepted.
   */
  private computedOf(seq: EngineSequence): number {
    if (seq.state === 'prefilling') return seq.computed;
    const context = this.decode.current.contextOf(seq);
    const hasOpenDrafts = this.draftTokens > 0 && this.batch.isAhead && seq.hasRow;
    return hasOpenDrafts ? context + seq.drafts - seq.burst : context;
  }

  /** Tokens that ended batches have computed; windows move on by these. */
  private processedOf(seq: EngineSequence): number {
    if (seq.state === 'prefilling') return seq.computed - seq.inFlight;
    const context = this.decode.current.contextOf(seq);
    if (!this.batch.isAhead) return context;
    return seq.inFlight > 0 ? context - seq.inFlight : context - seq.burst - 1;
  }

  /** `num_new_tokens` of a running sequence. */
  private newTokensOf(seq: EngineSequence, computed: number): number {
    const { budget } = this;
    if (seq.state === 'prefilling') return Math.min(budget.wanted(seq, computed), budget.tokens);
    if (this.draftTokens === 0) return 1;
    const tokens = Math.min(budget.rowTokens(computed), budget.tokens);
    seq.drafts = tokens - 1;
    return tokens;
  }

  /**
   * The loop around `allocate_slots`: preempts the last sequence in line until blocks for the first
   * `tokens` tokens are free. Returns false if that is the sequence itself, or if a step still
   * writes to the blocks of the last one.
   */
  private allocateSlots(seq: EngineSequence, tokens: number): boolean {
    const { blocks } = this;
    const { preemption } = this;
    const slots = this.budget.slotsFor(tokens);
    while (!blocks.extend(seq, this.processedOf(seq), slots)) {
      const victim = preemption.lastInLine();
      if (this.defersFrees && preemption.isInFlight(victim)) return false;
      this.preempt(victim, victim.rank < seq.rank);
      if (victim === seq) return false;
    }
    return true;
  }

  /** The batch can use the tokens of a sequence that had its turn. */
  private preempt(victim: EngineSequence, hadTurn: boolean): void {
    const { turns } = this;
    const isMember = this.decode.isCurrent(victim);
    const hasRow = isMember && (turns === 'together' || (turns === 'in line' && hadTurn));
    if (hasRow || victim.state === 'prefilling') this.budget.tokens += this.batch.tokensOf(victim);
    this.preemption.preempt(victim, hadTurn);
    this.hasPreempted = true;
    this.touch();
  }

  /** "Schedule the request". Its full blocks can be found from now on (`cache_blocks`). */
  private run(seq: EngineSequence, tokens: number): void {
    const { blocks, decode } = this;
    this.budget.tokens -= tokens;
    if (seq.state === 'prefilling') {
      seq.chunk = tokens;
      this.batch.chunkTokens += tokens;
      blocks.publish(seq, seq.computed + tokens);
      return;
    }
    // Of the tokens that the step under way computes, only the first is certain.
    const context = decode.current.contextOf(seq);
    const hasOpenDrafts = this.draftTokens > 0 && this.batch.isAhead;
    blocks.publish(seq, hasOpenDrafts ? context - seq.burst : context);
  }

  /** A prompt that gets no chunk is left out as it is. */
  private leaveOut(seq: EngineSequence): void {
    if (seq.state === 'decoding') this.batch.stall(seq);
  }

  /**
   * `schedule`, "Next, schedule the WAITING requests", those that hold blocks first. The first that
   * finds no tokens or blocks ends the loop.
   *
   * @param hasRunning  sequences run that were admitted before
   */
  private scheduleWaiting(hasRunning: boolean): void {
    const { batch, budget, skipped, adapters } = this;
    const { queue } = this;
    this.hasPrompts = batch.chunkTokens > 0;
    this.hasRunning = hasRunning;
    if (!hasRunning) this.receive();
    truncate(this.wholes, 0);
    this.reservations.passedOver = 0;
    if (adapters !== undefined) this.findAdapters(adapters);
    let isStuck = false;
    while (budget.tokens > 0 && !this.isFull) {
      const seq = queue.next();
      if (seq === undefined || (isStuck && seq.state !== 'ready')) break;
      if (isNew(seq) && !this.mayReceive) break;
      if (this.lacksAdapter(seq)) this.reservations.passedOver++;
      else if (this.schedule(seq)) continue;
      else if (seq.state === 'ready' && this.isAlone) isStuck = true;
      else break;
      queue.remove(seq);
      skipped.push(seq);
    }
    for (const seq of skipped) queue.add(seq);
    truncate(skipped, 0);
    this.isStale = (batch.chunkTokens > 0 || !this.mayReceive) && this.hasWaiting;
  }

  /** The body of that loop: false when tokens or blocks do not suffice. */
  private schedule(seq: EngineSequence): boolean {
    const { budget } = this;
    const { blocks, options } = this;
    const start = this.computedBefore(seq);
    if (seq.state === 'unreserved' && start < seq.remoteTokens) return this.reserve(seq, start);
    if (start / seq.targetTokens < thresholdOf(seq, options)) {
      this.reject(seq, start);
      return true;
    }
    const padding = this.paddingOf(seq, start);
    const tokens = budget.firstChunk(seq, start, { padding, isFirst: this.batch.running === 0 });
    if (tokens === 0) return false;
    const slots = budget.slotsFor(start + tokens + padding);
    if (!this.fitsWhole(seq, start)) return false;
    if (!blocks.start(seq, { computed: start, tokens: slots, spare: this.watermark })) return false;
    this.admit(seq, start, { tokens, padding });
    return true;
  }

  /**
   * `num_computed_tokens`: of a sequence that holds blocks, the tokens whose KV has arrived; of any
   * other, those that the prefix cache has (`get_computed_blocks`).
   */
  private computedBefore(seq: EngineSequence): number {
    const { blocks } = this;
    if (hasKv(seq)) return seq.computed;
    if (seq.blocks.length > 0) {
      // Its KV did not come. It needs as many blocks again.
      blocks.release(seq);
      this.reservations.owe(seq);
    }
    return blocks.match(seq, this.nowUs);
  }

  /**
   * Beside decoding sequences, a sequence with a single token to compute gets empty drafts, so that
   * it has as many tokens as they have and the batch stays uniform (`pad_spec_decode`). It gets
   * none beside chunks of prompts and at the end of the model's context.
   */
  private paddingOf(seq: EngineSequence, start: number): number {
    const { draftTokens, blocks } = this;
    if (draftTokens === 0 || this.hasPrompts || seq.targetTokens - start !== 1) return 0;
    if ((start === 0 && !this.hasRunning) || !this.budget.fitsDraft(start)) return 0;
    if (!this.isAlone || !hasKv(seq)) return draftTokens;
    // A sequence that is alone runs without drafts for which there will never be blocks.
    const tokens = this.budget.slotsFor(start + 1 + draftTokens);
    return blocks.fits(seq, { computed: start, tokens, spare: 0 }) ? draftTokens : 0;
  }

  /** `full_sequence_must_fit`. */
  private fitsWhole(seq: EngineSequence, computed: number): boolean {
    const { blocks, options } = this;
    if (options.schedulerReserveFullIsl !== true) return true;
    const { targetTokens: tokens } = seq;
    return blocks.fits(seq, { computed, tokens, spare: this.watermark, isWhole: true });
  }

  /** `load_kv_async`: gives a sequence blocks for KV from elsewhere. */
  private reserve(seq: EngineSequence, hitTokens: number): boolean {
    const { blocks, queue, accounts } = this;
    const computed = Math.max(hitTokens, seq.remoteTokens);
    if (!this.fitsWhole(seq, computed)) return false;
    const spare = this.isAlone ? 0 : this.watermark + this.reservations.blocksUnderWay(this.wholes);
    if (!blocks.start(seq, { computed, tokens: computed, spare })) return false;
    queue.remove(seq);
    seq.cachedTokens = hitTokens;
    accounts.query(seq, hitTokens);
    this.reservations.add(seq);
    return true;
  }

  private reject(seq: EngineSequence, hitTokens: number): void {
    const { queue, record, accounts, table } = this;
    queue.remove(seq);
    accounts.query(seq, hitTokens);
    accounts.rejected++;
    if (!seq.wasScheduled) seq.cachedTokens = hitTokens;
    record.rejected.push(seq.handle);
    table.retire(seq);
  }

  /** `self.running.append(request)`. */
  private admit(seq: EngineSequence, start: number, of: { tokens: number; padding: number }): void {
    const { batch, budget } = this;
    const { queue, record, blocks, decode, draftTokens } = this;
    const { tokens, padding } = of;
    const decodesAtOnce = isDecodeAtOnce(seq) && draftTokens === 0;
    if (!hasKv(seq)) this.countHit(seq, start);
    // With drafts, vLLM counts one that was waiting for its KV until the batch is formed.
    const isCounted = seq.state === 'ready' && draftTokens > 0;
    if (!isCounted && start + tokens >= seq.targetTokens) this.wholes.push(seq);
    queue.remove(seq);
    this.reservations.settle(seq);
    if (seq.adapter !== 0) this.adapters?.add(seq.adapter);
    if (!seq.wasScheduled) {
      seq.wasScheduled = true;
      record.scheduled.push(seq.handle);
    }
    seq.rank = this.admissions++;
    batch.running++;
    if (seq.hostTokens + seq.poolTokens > 0) this.load(seq);
    budget.tokens -= tokens + padding;
    blocks.publish(seq, start + tokens);
    // A sequence with one token counts as a decode; drafts begin only after that token.
    if (decodesAtOnce) {
      decode.current.join(seq);
      batch.joined.push(seq);
      return;
    }
    seq.state = 'prefilling';
    seq.computed = start;
    seq.chunk = tokens;
    seq.padding = padding;
    batch.chunkTokens += tokens;
    batch.prefilling.push(seq);
  }

  /** Counts what the prefix cache had of an admitted sequence. */
  private countHit(seq: EngineSequence, hitTokens: number): void {
    const { accounts } = this;
    accounts.query(seq, hitTokens);
    accounts.cached(seq, hitTokens);
    if (!seq.wasScheduled) seq.cachedTokens = hitTokens;
    if (seq.state !== 'unreserved') return;
    // The cache has all that was to come from elsewhere: the source is informed.
    seq.remoteTokens = 0;
    this.reservations.reserved.push(seq);
  }

  /** Loads run one after the other, because the links serve one read at a time. */
  private load(seq: EngineSequence): void {
    const { batch } = this;
    const { blockSize, hostTier } = this.options;
    if (seq.poolTokens > 0) batch.loadUs += this.blocks.fetch(this.nowUs + batch.loadUs);
    const bytes = (seq.hostTokens / blockSize) * hostTier!.bytesPerBlock;
    batch.loadUs += (bytes / hostTier!.bytesPerSecond) * 1e6;
    seq.hostTokens = 0;
    seq.poolTokens = 0;
  }

  /**
   * Records the adapters of all running sequences, also of those that the batch lacks, because they
   * can be in a later one. O(running).
   */
  private findAdapters(adapters: Set<number>): void {
    adapters.clear();
    this.batch.forRunning(({ adapter }) => adapters.add(adapter));
    for (const { adapter } of this.batch.stalled) adapters.add(adapter);
    adapters.delete(0);
  }

  private lacksAdapter({ adapter }: EngineSequence): boolean {
    const { adapters } = this;
    if (adapters === undefined || adapter === 0 || adapters.has(adapter)) return false;
    return adapters.size >= this.options.maxAdapters!;
  }

  /** Admits new sequences now and restarts the interval, which counts while steps only decode. */
  private receive(): void {
    this.receivedAt = this.accounts.steps;
  }

  /** Whether the batch may take new sequences. */
  private get mayReceive(): boolean {
    const { schedulerRecvInterval: every = 1 } = this.options;
    return every === 1 || (this.accounts.steps - this.receivedAt) % every === 0;
  }

  private get hasWaiting(): boolean {
    return this.queue.length > 0;
  }

  /** True when windows may free blocks in any step, more than it takes. */
  private get mayGainRoom(): boolean {
    return this.blocks.layout.windowed > 0 && !this.isFull;
  }

  private get isFull(): boolean {
    return this.batch.running >= this.budget.slots;
  }

  /** True when no other runs, leaves, is held or awaits KV: no blocks will become free. */
  private get isAlone(): boolean {
    const { leaving, heldBlocks } = this.table;
    return this.batch.running + this.reservations.deferred + leaving.length + heldBlocks === 0;
  }

  /** Blocks that an admission leaves free while others run. */
  private get watermark(): number {
    return this.batch.running > 0 ? (this.options.watermarkBlocks ?? 0) : 0;
  }
}

function mayRun({ state }: EngineSequence): boolean {
  return state === 'prefilling' || state === 'decoding';
}

function isNew({ state, wasScheduled }: EngineSequence): boolean {
  return state !== 'ready' && !wasScheduled;
}

/** Whether the KV of a waiting sequence has arrived from elsewhere. */
function hasKv({ state, remoteTokens }: EngineSequence): boolean {
  return state === 'ready' && remoteTokens > 0;
}

/**
 * A held prompt is computed regardless of the cache, because decode fetches all of it; KV that came
 * from elsewhere is not thrown away.
 */
function thresholdOf(seq: EngineSequence, options: EngineOptions): number {
  if (seq.mode === 'prefill-and-hold' || hasKv(seq) || seq.state === 'unreserved') return 0;
  return seq.parameters.cacheHitThreshold ?? options.globalCacheHitThreshold ?? 0;
}

/** True when its whole prompt is in KV and it generates. */
function isDecodeAtOnce({ state, mode, accountedTokens, promptTokens }: EngineSequence): boolean {
  return state === 'ready' && mode === 'remote-prefill' && accountedTokens === promptTokens;
}
