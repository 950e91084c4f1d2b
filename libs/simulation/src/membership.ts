import {
  EventQueue,
  startupLength,
  type Micros,
  type StartupPhase,
  startupPhases,
} from '@baton/kernel';
import { KvPool, KvPoolMember } from '@baton/kvcache';
import { AdapterBook } from './adapter-book';
import { type Calendar, TIE } from './calendar';
import { peerCacheFor } from './caches/peer-cache';
import { Replica } from './ranks/replica';
import type { ClusterScenario, EnginePool, MembershipChange } from './scenario';
import { type EngineWatcher, VirtualEngine } from './virtual-engine';

export interface MembershipParts {
  /** Grows as engines join; engines that left stay in it. */
  readonly engines: VirtualEngine[];
  readonly calendar: Calendar;
  readonly watcher: EngineWatcher;
  readonly slot: number;
  readonly onJoined: (engine: VirtualEngine) => void;
  readonly onReady: (engine: VirtualEngine, nowUs: Micros) => void;
  readonly onLeaving: (engine: VirtualEngine, nowUs: Micros) => void;
  readonly onGone: (engine: VirtualEngine, nowUs: Micros) => void;
  /** All ranks of an engine begin to load; engines of the start do not load. */
  readonly onStarting: (replica: Replica, nowUs: Micros, phases: readonly StartupPhase[]) => void;
  /** Called when a rank of an engine has loaded; the transfer of its cache takes `fetchUs`. */
  readonly onFetching: (replica: Replica, fetchUs: Micros) => void;
}

/** Number of ranks that a run can have in total. */
export function mostEngines({ pools, changes, scaling }: ClusterScenario): number {
  let most = 0;
  for (const pool of pools) {
    most += Math.max(pool.count, (scaling?.most[pool.role] ?? 0) * ranksOf(pool));
  }
  for (const change of changes) {
    if (change.kind === 'leave') continue;
    most += ranksOf(pools[change.kind === 'become' ? change.to : change.pool]!);
  }
  return most;
}

/**
 * The members of the cluster: initial engines, those that join and load, and those that leave when
 * they are empty.
 */
export class VirtualMembership {
  /**
   * Payload: index of a change, or the number of changes plus the index of an engine that is ready
   * then.
   */
  private readonly due = new EventQueue();
  /** In the order in which they joined; those that left stay in it. */
  private readonly all: Replica[] = [];
  /** The engine of each rank. */
  private readonly replicaOf: Replica[] = [];
  /** The ranks that began in each pool. */
  private readonly begun: number[];
  /** Ranks that have loaded, and whose caches are on their way. */
  private readonly fetching = new Set<VirtualEngine>();
  /** All engines whose pool has `kvPool` terms are nodes of this single KV pool. */
  private readonly kvPool = new KvPool();

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: MembershipParts,
  ) {
    this.begun = scenario.pools.map(() => 0);
  }

  /** All engines with their ranks, including those that left. */
  get replicas(): readonly Replica[] {
    return this.all;
  }

  begin(): void {
    const { pools, changes } = this.scenario;
    for (const [index, pool] of pools.entries()) {
      for (let i = 0; i < pool.count; i += ranksOf(pool)) {
        for (const rank of this.join(index).ranks) this.makeReady(rank, 0);
      }
    }
    for (const [index, { atUs }] of changes.entries()) this.due.push(atUs, 0, index);
    this.setAlarm();
  }

  handleDue(nowUs: Micros): void {
    const { changes } = this.scenario;
    const what = this.due.pop();
    if (what < changes.length) this.change(changes[what]!, nowUs);
    else this.finishLoading(this.parts.engines[what - changes.length]!, nowUs);
    this.setAlarm();
  }

  /** Removes the draining engine of this rank if all its ranks are empty now. */
  checkEmpty({ index, state }: VirtualEngine, nowUs: Micros): void {
    if (state !== 'draining') return;
    const replica = this.replicaOf[index]!;
    if (!replica.hasDrained) return;
    for (const rank of replica.ranks) this.remove(rank, nowUs);
    if (replica.nextPool !== undefined) this.start(replica.nextPool, nowUs);
  }

  /** @param change its instant is `nowUs` */
  change(change: MembershipChange, nowUs: Micros): void {
    if (change.kind === 'join') {
      this.start(change.pool, nowUs);
      return;
    }
    const replica = this.leastBusy(change.pool);
    if (replica === undefined) return;
    replica.drain(change.kind === 'become' ? change.to : undefined);
    for (const rank of replica.ranks) this.parts.onLeaving(rank, nowUs);
    this.checkEmpty(replica.leader, nowUs);
  }

  private remove(rank: VirtualEngine, nowUs: Micros): void {
    this.parts.onGone(rank, nowUs);
    rank.state = 'gone';
    if (rank.kvPool !== undefined) this.kvPool.leave(rank.index);
    rank.goneUs = nowUs;
  }

  private start(pool: number, nowUs: Micros): void {
    const replica = this.goneReplica(pool) ?? this.join(pool);
    const isPeer = (each: VirtualEngine): boolean => each.poolIndex === pool && each.isReady;
    const phases = startupPhases(replica.leader.pool, this.parts.engines.some(isPeer));
    this.parts.onStarting(replica, nowUs, phases);
    for (const rank of replica.ranks) this.scheduleReady(rank, nowUs + startupLength(phases));
  }

  private scheduleReady(engine: VirtualEngine, atUs: Micros): void {
    this.due.push(atUs, 0, this.scenario.changes.length + engine.index);
    this.setAlarm();
  }

  /** The engine has loaded, or fetched its cache after that. */
  private finishLoading(engine: VirtualEngine, nowUs: Micros): void {
    const isFirst = this.scenario.fetchesCaches === true && !this.fetching.delete(engine);
    const found = isFirst ? peerCacheFor(engine, this.parts.engines) : undefined;
    if (found === undefined) {
      this.makeReady(engine, nowUs);
      return;
    }
    engine.warm(found.cache);
    this.fetching.add(engine);
    this.parts.onFetching(this.replicaOf[engine.index]!, found.fetchUs);
    this.scheduleReady(engine, nowUs + found.fetchUs);
  }

  /**
   * An autoscaler can start any number of engines, so a new engine reuses the object of one that
   * left. Each engine of a schedule is new, with its own record.
   */
  private goneReplica(poolIndex: number): Replica | undefined {
    if (this.scenario.scaling === undefined) return undefined;
    const replica = this.all.find((each) => each.poolIndex === poolIndex && each.isGone);
    replica?.startAgain();
    return replica;
  }

  private join(poolIndex: number): Replica {
    const pool = this.scenario.pools[poolIndex]!;
    const replica = new Replica(poolIndex, pool, this.parts.calendar);
    for (let rank = 0; rank < ranksOf(pool); rank++) this.joinRank(pool, replica);
    this.all.push(replica);
    return replica;
  }

  private joinRank(pool: EnginePool, replica: Replica): void {
    const { engines, calendar, watcher, onJoined } = this.parts;
    const { leap, workload } = this.scenario;
    const { poolIndex, group } = replica;
    const index = engines.length;
    const { adapter } = workload;
    const engine = new VirtualEngine(index, {
      pool,
      poolIndex,
      calendar,
      watcher,
      leap,
      group,
      kvPool: pool.kvPool && new KvPoolMember(pool.kvPool, this.kvPool, index),
      adapters: adapter && new AdapterBook(adapter, pool.options.maxAdapters ?? 1),
      place: this.begun[poolIndex]!++,
      // Without contents, 1 gives the smallest table; 0 would mean a table for any hashes.
      contentCount: Math.max(1, workload.contentCount),
    });
    engines.push(engine);
    this.replicaOf.push(replica);
    replica.add(engine);
    onJoined(engine);
  }

  private makeReady(engine: VirtualEngine, nowUs: Micros): void {
    engine.state = 'ready';
    engine.readyUs = nowUs;
    this.parts.onReady(engine, nowUs);
  }

  private leastBusy(poolIndex: number): Replica | undefined {
    let best: Replica | undefined;
    for (const replica of this.all) {
      if (replica.poolIndex !== poolIndex || !replica.isReady) continue;
      if (best === undefined || replica.load < best.load) best = replica;
    }
    return best;
  }

  private setAlarm(): void {
    const { calendar, slot } = this.parts;
    const dueUs = this.due.peekTimeUs();
    if (dueUs === Infinity) calendar.clear(slot);
    else calendar.set(slot, dueUs, TIE.scaling);
  }
}

function ranksOf({ dataParallel }: EnginePool): number {
  return dataParallel?.size ?? 1;
}
