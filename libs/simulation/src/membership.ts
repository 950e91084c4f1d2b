import type { LifeEvent, LifeState, StartupRecord } from '@baton/analysis';
import { EventQueue, startupLength, type Micros, startupPhases } from '@baton/kernel';
import type { EngineOptions } from '@baton/engine';
import { KvPool, KvPoolMember } from '@baton/kvcache';
import { AdapterBook } from './adapter-book';
import { type Calendar, TIE } from './calendar';
import { peerCacheFor } from './caches/peer-cache';
import type { Handoffs } from './handoffs';
import type { Lifecycle } from './lifecycle';
import { Replica } from './ranks/replica';
import type { ClusterScenario, EnginePool, MembershipChange } from './scenario';
import type { Telemetry } from './telemetry';
import { VirtualEngine } from './virtual-engine';

export interface MembershipParts {
  /** Grows as engines join; engines that left stay in it. */
  readonly engines: VirtualEngine[];
  readonly calendar: Calendar;
  readonly slot: number;
  readonly handoffs: Handoffs;
  readonly lifecycle: Lifecycle;
  readonly telemetry: Telemetry;
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
  /** All engines with their ranks, in the order of joining; those that left stay in it. */
  readonly replicas: Replica[] = [];
  /** The states of all ranks, as they came. */
  readonly lives: LifeEvent[] = [];
  /** What engines that start load; engines of the start do not load. */
  readonly startups: StartupRecord[] = [];
  /** The engine of each rank. */
  private readonly replicaOf: Replica[] = [];
  /** The ranks that began in each pool. */
  private readonly begun: number[];
  /** The options of the engines of each pool. */
  private readonly options: readonly EngineOptions[];
  /** Ranks that have loaded, and whose caches are on their way. */
  private readonly fetching = new Set<VirtualEngine>();
  /** All engines whose pool has `kvPool` terms are nodes of this single KV pool. */
  private readonly kvPool = new KvPool();

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: MembershipParts,
  ) {
    const { pools, workload } = scenario;
    this.begun = pools.map(() => 0);
    // Without contents, 1 gives the smallest table; 0 would mean a table for any hashes.
    const contentCount = Math.max(1, workload.contentCount);
    this.options = pools.map(({ options }) => ({ ...options, contentCount }));
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
    for (const rank of replica.ranks) {
      this.note(rank, 'draining', nowUs);
      this.parts.lifecycle.onLeaving(rank, nowUs);
    }
    this.checkEmpty(replica.leader, nowUs);
  }

  private remove(rank: VirtualEngine, nowUs: Micros): void {
    this.note(rank, 'gone', nowUs);
    this.parts.telemetry.onGone(rank);
    rank.state = 'gone';
    if (rank.kvPool !== undefined) this.kvPool.leave(rank.index);
    rank.goneUs = nowUs;
  }

  private start(pool: number, nowUs: Micros): void {
    const replica = this.goneReplica(pool) ?? this.join(pool);
    const isPeer = (each: VirtualEngine): boolean => each.poolIndex === pool && each.isReady;
    const phases = startupPhases(replica.leader.pool, this.parts.engines.some(isPeer));
    const { leader, role, ranks } = replica;
    for (const rank of ranks) {
      this.parts.telemetry.onJoin(rank);
      this.note(rank, 'starting', nowUs);
    }
    this.startups.push({ atUs: nowUs, engine: leader.index, role, phases: [...phases] });
    for (const rank of ranks) this.scheduleReady(rank, nowUs + startupLength(phases));
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
    this.noteFetch(this.replicaOf[engine.index]!, found.fetchUs);
    this.scheduleReady(engine, nowUs + found.fetchUs);
  }

  /** The last start of the engine also fetches a cache, for each rank; the longest counts. */
  private noteFetch({ leader }: Replica, us: Micros): void {
    const phases = this.startups.findLast(({ engine }) => engine === leader.index)?.phases;
    const last = phases?.at(-1);
    if (last?.cause === 'cache')
      phases![phases!.length - 1] = { ...last, us: Math.max(last.us, us) };
    else phases?.push({ cause: 'cache', us });
  }

  private note({ index, pool }: VirtualEngine, state: LifeState, atUs: Micros): void {
    this.lives.push({ atUs, engine: index, role: pool.role, state });
  }

  /**
   * An autoscaler can start any number of engines, so a new engine reuses the object of one that
   * left. Each engine of a schedule is new, with its own record.
   */
  private goneReplica(poolIndex: number): Replica | undefined {
    if (this.scenario.scaling === undefined) return undefined;
    const replica = this.replicas.find((each) => each.poolIndex === poolIndex && each.isGone);
    replica?.startAgain();
    return replica;
  }

  private join(poolIndex: number): Replica {
    const pool = this.scenario.pools[poolIndex]!;
    const replica = new Replica(poolIndex, pool, this.parts.calendar);
    for (let rank = 0; rank < ranksOf(pool); rank++) this.joinRank(pool, replica);
    this.replicas.push(replica);
    return replica;
  }

  private joinRank(pool: EnginePool, replica: Replica): void {
    const { engines, calendar, handoffs, telemetry } = this.parts;
    const { leap, workload } = this.scenario;
    const { poolIndex, group } = replica;
    const index = engines.length;
    const { adapter } = workload;
    const engine = new VirtualEngine(index, {
      pool,
      poolIndex,
      calendar,
      watcher: telemetry,
      leap,
      group,
      kvPool: pool.kvPool && new KvPoolMember(pool.kvPool, this.kvPool, index),
      adapters: adapter && new AdapterBook(adapter, pool.options.maxAdapters ?? 1),
      place: this.begun[poolIndex]!++,
      options: this.options[poolIndex]!,
    });
    engines.push(engine);
    this.replicaOf.push(replica);
    replica.add(engine);
    handoffs.add(engine);
    telemetry.onJoin(engine);
  }

  private makeReady(engine: VirtualEngine, nowUs: Micros): void {
    engine.state = 'ready';
    engine.readyUs = nowUs;
    this.note(engine, 'ready', nowUs);
    this.parts.lifecycle.onReady(engine, nowUs);
  }

  private leastBusy(poolIndex: number): Replica | undefined {
    let best: Replica | undefined;
    for (const replica of this.replicas) {
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
