import { LiveClock } from '@baton/clock';
import { type EngineMessage, type KvTransferParams, remoteRequestId } from '@baton/contract';
import type { SequenceHandle } from '@baton/engine';
import type { ReleaseReason } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable, Optional } from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { TimelineFacts } from '../run/observers/timeline-facts';
import { claimOn, claimOnKept } from '../run/runs/kv-claim';
import { isRunOver, type Run, RunTable } from '../run/runs/run';
import { HostOptions } from '../run/tokens';

type Read = Extract<EngineMessage, { kind: 'read' }>;

/** Blocks that wait for a reader, whether or not their run has ended. */
export interface Held {
  /** Tokens whose KV the blocks hold. */
  readonly tokens: number;
  /** True for blocks of an ended decode leg, which wait for the next turn of its conversation. */
  readonly isKept: boolean;
  readonly run: Run;
  readonly handle: SequenceHandle;
  readonly heldUs: Micros;
  /** Ids of the blocks, sent only to outside routers; Baton's decode engines use the generation. */
  readonly blockIds: readonly number[] | undefined;
  /** 0 until the coordinator has numbered the holding. */
  generation: number;
  leaseEndsUs: Micros;
}

/**
 * Default address of vLLM's NIXL side channel. Baton's engines communicate over the broker, but
 * readers require the fields.
 */
const SIDE_CHANNEL_HOST = 'localhost';
const SIDE_CHANNEL_PORT = 5600;

/** Longest time from the answer of a prefill leg to the arrival of the decode leg (wall µs). */
const ROUTER_TAKES_US = 2_000_000;

/** Number of expired holdings that are remembered for reads that end late. */
const MAX_EXPIRED = 1_024;

/** The blocks that this engine holds for readers, by request and epoch. */
@Injectable()
export class HeldKv {
  private held = new Map<string, Held>();
  /** The oldest first. */
  private readonly expired = new Set<number>();

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly clock: LiveClock,
    private readonly loop: StepLoop,
    private readonly stats: EngineStats,
    @Optional() private readonly timelines?: TimelineFacts,
  ) {}

  get size(): number {
    return this.held.size;
  }

  get({ requestId, epoch }: HeldName): Held | undefined {
    return this.held.get(keyOf({ requestId, epoch }));
  }

  /** All holdings under the name of a read. */
  named({ requestId, generation }: Pick<Read, 'requestId' | 'generation'>): Held[] {
    return [...this.held.values()].filter(
      (held) => held.generation === generation && held.run.job.requestId === requestId,
    );
  }

  /**
   * The number of holdings that can still be read. A router sends its decode leg within two seconds
   * or not at all.
   */
  awaited(): number {
    const { clock } = this;
    const oldUs = clock.nowUs() - ROUTER_TAKES_US * clock.speedup;
    return [...this.held.values()].filter(
      ({ run, heldUs }) => run.job.flow === 'route' || heldUs > oldUs,
    ).length;
  }

  /**
   * Holdings of requests that Baton routes to decode; those of outside routers depend only on their
   * lease.
   */
  routed(): HeldName[] {
    return [...this.held.values()]
      .filter(({ run }) => run.job.flow === 'route' && isRunOver(run))
      .map(({ run }) => ({ requestId: run.job.requestId, epoch: run.epoch }));
  }

  hold(run: Run, what: Pick<Held, 'tokens' | 'isKept' | 'heldUs'>): void {
    const { slot, runs } = this;
    const { handle, epoch, job } = run;
    const isNamed = what.isKept || job.flow === 'hold';
    const blockIds = isNamed ? slot.engine.blockIds(handle) : undefined;
    runs.unbind(run);
    const unnamed = { generation: 0, leaseEndsUs: what.heldUs };
    const held = { run, handle, blockIds, ...unnamed, ...what };
    this.held.set(keyOf({ requestId: job.requestId, epoch }), held);
  }

  /**
   * The eleven fields of vLLM's `kv_transfer_params` that a reader needs, as a prefill instance
   * returns them, and a decode instance that keeps its blocks.
   */
  paramsOf({ run, generation, blockIds, tokens, isKept, leaseEndsUs }: Held): KvTransferParams {
    const { clock, options, identity } = this;
    return {
      do_remote_prefill: !isKept,
      do_remote_decode: isKept,
      remote_block_ids: blockIds === undefined ? null : [blockIds],
      remote_engine_id: identity.engineId,
      remote_request_id: remoteRequestId(run.job.requestId, generation),
      remote_host: SIDE_CHANNEL_HOST,
      // Each data-parallel rank has a side channel of its own.
      remote_port: SIDE_CHANNEL_PORT + (identity.dataParallel?.rank ?? 0),
      tp_size: options.facts.tensorParallelSize,
      remote_num_tokens: tokens,
      remote_blocks_expiry_time: isKept ? clock.toWallUs(leaseEndsUs) / 1e6 : null,
      transfer_mode: 'pull',
    };
  }

  /**
   * The epoch of the first holding whose claim fits, or -1: parameters from outside name no epoch.
   */
  epochClaimed(read: Read, claim: number): number {
    const [held] = this.named(read);
    return held !== undefined && this.claimOn(held, read) === claim ? held.run.epoch : -1;
  }

  /** Frees the blocks; returns the holding of this name. */
  free(name: HeldName, reason: ReleaseReason): Held | undefined {
    const held = this.get(name);
    if (held === undefined) return undefined;
    const { clock, timelines, slot, loop } = this;
    this.held.delete(keyOf(name));
    this.count(reason);
    if (reason === 'expired') this.remember(held.generation);
    timelines?.note(held.run, 'released', { atUs: clock.nowUs() });
    slot.engine.releaseHeld(held.handle);
    // A prompt in an idle engine can have waited for these blocks.
    loop.enter(clock.nowUs());
    return held;
  }

  /** Counts a reader's notification about blocks that were already free. */
  noteReadEnd({ generation, outcome }: Extract<EngineMessage, { kind: 'read-end' }>): void {
    if (outcome !== 'done' || !this.expired.delete(generation)) return;
    this.stats.add('nixl_num_notifications_after_expiry');
  }

  private remember(generation: number): void {
    this.expired.add(generation);
    const [oldest] = this.expired;
    if (this.expired.size > MAX_EXPIRED && oldest !== undefined) this.expired.delete(oldest);
  }

  count(reason: ReleaseReason): void {
    const { stats } = this;
    stats.add(reason === 'read-done' ? 'kv_released_read_done' : `kv_released_${reason}`);
    if (reason === 'expired') stats.add('nixl_num_kv_expired_reqs');
  }

  /** The engine has been replaced: all held blocks are gone. */
  reset(): void {
    this.held = new Map();
  }

  /**
   * The claim that a reader of this holding must make; undefined when it cannot be read in this
   * way.
   */
  private claimOn(held: Held, { claimedTokens }: Read): number | undefined {
    const { blockIds, tokens: heldTokens, isKept, run } = held;
    const { blockSize } = this.options.facts;
    if (blockIds === undefined || isKept !== (claimedTokens !== undefined)) return undefined;
    if (claimedTokens === undefined) return claimOn(run.job, [blockIds], blockSize);
    if (claimedTokens > heldTokens) return undefined;
    return claimOnKept(run.job, [blockIds], { tokens: claimedTokens, blockSize });
  }
}

export interface HeldName {
  readonly requestId: string;
  readonly epoch: number;
}

function keyOf({ requestId, epoch }: HeldName): string {
  return `${requestId}@${epoch}`;
}
