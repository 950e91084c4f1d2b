import type { LiveClock } from '@baton/clock';
import type { Reservation } from '@baton/engine';
import {
  type FetchFailure,
  type TargetAction,
  TransferSet,
  TransferSetup,
  type TransferShape,
  wholeBlocks,
} from '@baton/handoff';
import { type Micros, usToSeconds } from '@baton/kernel';
import { type EngineIdentity } from '../../live-engine/engine/engine-identity';
import { type EngineSlot, WakeUp } from '../../live-engine/engine/engine-slot';
import { type Fetching, type Run, type RunTable } from '../../live-engine/runs/run';
import { type RunSpans } from '../../live-engine/observers/run-spans';
import { type StepLoop } from '../../live-engine/engine/step-loop';
import { type TimelineFacts } from '../../live-engine/observers/timeline-facts';
import type { EngineStats } from '@baton/telemetry';
import type { JobFaults } from '../endings/job-faults';
import type { DriverOptions } from '../options';
import type { FailedFetches } from './failed-fetches';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;

export interface ReservationsParts {
  readonly options: Pick<DriverOptions, 'kvRecomputeThreshold'>;
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly loop: StepLoop;
  /** Undefined when timelines are off. */
  readonly timelines: TimelineFacts | undefined;
  readonly stats: EngineStats;
}

/** The KV that a run must fetch. */
type Missing = Pick<Reservation, 'missingTokens' | 'missingBlocks'>;

const NOTHING: Missing = { missingTokens: 0, missingBlocks: 0 };

/** Runs that wait for blocks for their KV, in the engine's order. */
export class Reservations {
  private readonly unreserved = new Set<Run>();

  constructor(private readonly parts: ReservationsParts) {}

  get waiting(): number {
    return this.unreserved.size;
  }

  add(run: Run, fetching: Fetching): void {
    run.fetching = fetching;
    this.unreserved.add(run);
  }

  delete(run: Run): void {
    this.unreserved.delete(run);
  }

  clear(): void {
    this.unreserved.clear();
  }

  /**
   * Assigns the blocks that the engine has found for runs.
   *
   * @param startUs     instant at which a step began, or could not
   * @param onReserved called with each run that got its blocks, and what it must fetch
   * @returns whether a run got blocks
   */
  reserve(startUs: Micros, onReserved: (run: Run, missing: Missing) => void): boolean {
    const { slot, runs } = this.parts;
    const { engine } = slot;
    const waitedBefore = this.unreserved.size;
    while (this.unreserved.size > 0) {
      const reservation = engine.reserveNext();
      if (reservation === undefined) break;
      const run = runs.at(reservation.handle);
      if (run?.fetching === undefined) continue;
      this.unreserved.delete(run);
      this.note(run, run.fetching, { startUs, tokens: reservation.missingTokens });
      onReserved(run, run.fetching.isDeclined ? NOTHING : reservation);
    }
    return this.unreserved.size < waitedBefore;
  }

  private note(run: Run, fetching: Fetching, { startUs, tokens }: Reserved): void {
    const { options, loop, timelines, stats } = this.parts;
    // A loop that catches up can begin steps before the instant at which the KV was held.
    const atUs = loop.logicalUs(Math.max(startUs, run.causeUs));
    fetching.reservedUs = atUs;
    fetching.missingTokens = tokens;
    timelines?.note(run, 'reserved', { atUs, tokens });
    // Missing tokens below the threshold of a transfer count as none: the holder can free them.
    const isLittle = tokens > 0 && tokens < options.kvRecomputeThreshold;
    fetching.isDeclined = run.stage === 'prefill' && isLittle;
    stats.add('external_prefix_cache_queries', fetching.isDeclined ? 0 : tokens);
  }
}

export interface KvLoadsParts {
  readonly transfers: Transfers;
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
  readonly slot: EngineSlot;
  readonly loop: StepLoop;
  readonly clock: LiveClock;
  /** Undefined when timelines are off. */
  readonly timelines: TimelineFacts | undefined;
  readonly spans: RunSpans | undefined;
  readonly stats: EngineStats;
}

/** Times transfers of KV, and lets a sequence join the batch when its KV has arrived. */
export class KvLoads {
  constructor(private readonly parts: KvLoadsParts) {}

  /** @param onDone called with the logical instant at which the transfer ends */
  start(run: Run, action: Action<'start-transfer'>, onDone: (completedUs: Micros) => void): void {
    const { transfers, loop, jobFaults } = this.parts;
    if (run.fetching?.reservedUs === undefined) return;
    const startUs = loop.logicalUs(run.fetching.reservedUs);
    run.fetching.transferStartedUs = startUs;
    if (run.job.faults === undefined) {
      transfers.start(run, action, { startUs, onDone });
      return;
    }
    const hurt = jobFaults.onTransfer(run);
    if (hurt !== undefined) transfers.start(run, { ...action, ...hurt }, { startUs, onDone });
  }

  ready(run: Run, action: Action<'kv-ready'>): void {
    const { fetching } = run;
    if (fetching?.reservedUs === undefined) return;
    const { stats, loop, slot, failed, jobFaults } = this.parts;
    if (fetching.isDeclined) {
      stats.add('kv_fetch_declined');
      failed.recompute(run);
      return;
    }
    const readyUs = this.arrived(run, { fetching, reservedUs: fetching.reservedUs, action });
    const { engine } = slot;
    const join = (): void => {
      if (run.handle < 0) return;
      run.hasFetched = true;
      engine.kvArrived(run.handle);
    };
    if (run.job.faults === undefined) loop.enter(readyUs, join);
    else jobFaults.onDecode(run, readyUs, (joinUs) => loop.enter(joinUs, join));
  }

  failed(run: Run, why: FetchFailure): void {
    const { failed, stats } = this.parts;
    stats.add(`kv_fetch_${why}`);
    if (isRefusal(why)) {
      failed.onRefused(run);
      return;
    }
    stats.add('nixl_num_failed_transfers');
    failed.onFailed(run, why);
  }

  /** Counts the arrived KV; returns its instant of arrival. */
  private arrived(run: Run, { fetching, reservedUs, action }: Arrival): Micros {
    const { transfers, stats, timelines, clock, spans } = this.parts;
    const { transferredBlocks, transferredTokens: tokens } = action;
    const hasMoved = transferredBlocks > 0;
    const atUs = hasMoved ? fetching.transferStartedUs : reservedUs;
    const readyUs = hasMoved ? atUs + transfers.lastSpanUs : reservedUs;
    if (hasMoved) transfers.count(transferredBlocks);
    stats.add('kv_fetched');
    timelines?.note(run, 'transfer', { atUs, endUs: readyUs, tokens });
    if (spans !== undefined) {
      const instants = { startUs: clock.toWallUs(atUs), endUs: clock.toWallUs(readyUs) };
      spans.transferred(run, { tokens, ...instants });
    }
    run.transferredTokens = tokens;
    stats.add('external_prefix_cache_hits', tokens);
    return readyUs;
  }
}

interface Reserved {
  readonly startUs: Micros;
  readonly tokens: number;
}

interface Arrival {
  readonly fetching: Fetching;
  readonly reservedUs: Micros;
  readonly action: Action<'kv-ready'>;
}

/** The run is void for the coordinator, although it has not ended here. */
function isRefusal(why: FetchFailure): boolean {
  return why === 'aborted' || why === 'rejected' || why === 'superseded';
}

export interface TransferOrder {
  readonly sourceId: string;
  readonly blocks: number;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly sourcePorts: number;
  readonly activeReads: number;
  /**
   * An injected fault: additional latency, and the share of the link's speed for this transfer.
   * Unset: 0 µs, and 1.
   */
  readonly extraUs?: Micros;
  readonly factor?: number;
}

export interface TransferPhase {
  readonly startUs: Micros;
  readonly onDone: (completedUs: Micros) => void;
}

export interface TransfersParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'facts' | 'transferShape' | 'transferTimes'>;
  readonly clock: LiveClock;
  readonly slot: EngineSlot;
  readonly stats: EngineStats;
}

/**
 * The transfers into one engine on the wall clock. `TransferSet` computes their durations, and this
 * class sets an alarm for the end of the next one.
 */
export class Transfers {
  private set = new TransferSet();
  /** Undefined when setting up takes no time. */
  readonly setup: TransferSetup | undefined;
  readonly shape: TransferShape;
  private readonly underWay = new Map<string, TransferPhase & { handshakeUs: Micros }>();
  private readonly wakeUp: WakeUp;
  /** Simulated duration of the transfer that completed last. */
  lastSpanUs: Micros = 0;
  /** Part of it spent on the first contact of the two engines. */
  private lastHandshakeUs: Micros = 0;

  constructor(private readonly parts: TransfersParts) {
    const { facts, transferShape, transferTimes } = parts.options;
    this.shape = transferShape ?? wholeBlocks(facts.kvBytesPerToken, facts.blockSize);
    this.setup = transferTimes && new TransferSetup(transferTimes, this.shape);
    const { clock, slot } = parts;
    this.wakeUp = new WakeUp(clock, slot, () => this.complete());
  }

  start(run: Run, order: TransferOrder, phase: TransferPhase): void {
    const id = idOf(run.job.requestId, run.epoch);
    const { link } = this.parts.options.facts;
    const handshakeUs = this.setup?.handshakeLeftUs(order.sourceId, phase.startUs) ?? 0;
    const setupUs = handshakeUs + (this.setup?.postingUs(order.blocks) ?? 0);
    this.underWay.set(id, { handshakeUs, ...phase });
    this.set.start({
      id,
      sourceId: order.sourceId,
      targetId: this.parts.identity.engineId,
      // A fraction of the speed is modelled as a multiple of the bytes at full speed, so that the
      // other transfers keep theirs.
      bytes: order.bytes / (order.factor ?? 1),
      baseLatencyUs: link.baseLatencyUs + setupUs + (order.extraUs ?? 0),
      sourceBytesPerSecond: order.bytesPerSecond,
      targetBytesPerSecond: link.bytesPerSecond,
      sourcePorts: order.sourcePorts,
      sourceActiveReads: order.activeReads,
      nowUs: phase.startUs,
    });
    this.arm();
  }

  cancel(requestId: string, epoch: number): void {
    const id = idOf(requestId, epoch);
    this.underWay.delete(id);
    this.set.cancel(id, this.parts.clock.nowUs());
    this.arm();
  }

  setShare(sourceId: string, activeReads: number): void {
    this.set.setSourceShare(sourceId, activeReads, this.parts.clock.nowUs());
    this.arm();
  }

  /**
   * Counts the transfer that completed last, of `blocks` to each rank: vLLM counts one transfer per
   * tensor-parallel rank.
   */
  count(blocks: number): void {
    const { stats, options } = this.parts;
    const { link, tensorParallelSize } = options.facts;
    const descriptors = blocks * this.shape.descriptorsPerBlock;
    const postUs = link.baseLatencyUs + (this.setup?.postingUs(blocks) ?? 0);
    // vLLM measures a transfer from the end of the handshake.
    const xferUs = this.lastSpanUs - this.lastHandshakeUs;
    for (let rank = 0; rank < tensorParallelSize; rank += 1) {
      stats.observe('nixl_xfer_time_seconds', usToSeconds(xferUs));
      stats.observe('nixl_post_time_seconds', usToSeconds(postUs));
      stats.observe('nixl_bytes_transferred', blocks * this.shape.bytesPerBlock);
      stats.observe('nixl_num_descriptors', descriptors);
    }
  }

  stop(): void {
    this.wakeUp.cancel();
  }

  /** The engine has been replaced: all transfers end. */
  reset(): void {
    this.stop();
    this.set = new TransferSet();
    this.setup?.reset();
    this.underWay.clear();
    this.lastSpanUs = 0;
    this.lastHandshakeUs = 0;
  }

  private complete(): void {
    for (const { id, completedUs } of this.set.completed(this.parts.clock.nowUs())) {
      const transfer = this.underWay.get(id);
      if (transfer === undefined) continue;
      this.underWay.delete(id);
      this.lastSpanUs = completedUs - transfer.startUs;
      this.lastHandshakeUs = transfer.handshakeUs;
      transfer.onDone(completedUs);
    }
    this.arm();
  }

  /** Transfers that completed while the set's clock advanced otherwise are picked up at once. */
  private arm(): void {
    const nowUs = this.parts.clock.nowUs();
    const dueUs = this.set.nextCompletionUs();
    const hasCompleted = this.underWay.size > this.set.size;
    this.wakeUp.set(hasCompleted ? nowUs : dueUs);
  }
}

function idOf(requestId: string, epoch: number): string {
  return `${requestId}@${epoch}`;
}
