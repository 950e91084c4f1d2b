import {
  EventQueue,
  startupLength,
  type Micros,
  type StartupPhase,
  startupPhases,
} from '@baton/kernel';
import { KvPool, KvPoolMember } from '@baton/kv-pool';
import type { EngineRole } from '@baton/placement';
import { AdapterBook } from './adapter-book';
import { type Calendar, TIE } from './calendar';
import { peerCacheFor } from './caches/peer-cache';
import { LockstepGroup } from './lockstep-group';
import type { ClusterScenario, MembershipChange } from './scenario';
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
  /** An engine begins to load; engines of the start do not load. */
  readonly onStarting: (
    engine: VirtualEngine,
    nowUs: Micros,
    phases: readonly StartupPhase[],
  ) => void;
  /** Called when an engine has loaded; the transfer of its cache takes `fetchUs`. */
  readonly onFetching: (engine: VirtualEngine, fetchUs: Micros) => void;
}

const NOWHERE = -1;

/** Number of engines that a run can have in total. */
export function mostEngines({ pools, changes, scaling }: ClusterScenario): number {
  const first = pools.reduce(
    (sum, { count, role }) => sum + Math.max(count, scaling?.most[role] ?? 0),
    0,
  );
  return first + changes.filter(({ kind }) => kind !== 'leave').length;
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
  /** By engine: the pool that gets its GPUs. */
  private readonly next: number[] = [];
  /** By pool: the ranks that joined last, for engines whose ranks step together. */
  private readonly groups: (LockstepGroup | undefined)[] = [];
  /** By pool: the engines that began in it. */
  private readonly begun: number[];
  /** Engines that have loaded, and whose caches are on their way. */
  private readonly fetching = new Set<VirtualEngine>();
  /** All engines whose pool has `kvPool` terms are nodes of this single KV pool. */
  private readonly kvPool = new KvPool();

  constructor(
    private readonly scenario: ClusterScenario,
    private readonly parts: MembershipParts,
  ) {
    this.begun = scenario.pools.map(() => 0);
  }

  begin(): void {
    const { pools, changes } = this.scenario;
    for (const [pool, { count }] of pools.entries()) {
      for (let i = 0; i < count; i++) this.makeReady(this.join(pool), 0);
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

  /** The role that a draining engine takes afterwards; undefined when it leaves. */
  nextRoleOf({ index, state }: VirtualEngine): EngineRole | undefined {
    const pool = state === 'draining' ? this.next[index] : undefined;
    return pool === undefined ? undefined : this.scenario.pools[pool]?.role;
  }

  /** Removes a draining engine if it is empty now. */
  checkEmpty(engine: VirtualEngine, nowUs: Micros): void {
    if (engine.state !== 'draining' || !engine.isEmpty) return;
    this.parts.onGone(engine, nowUs);
    engine.state = 'gone';
    if (engine.kvPool !== undefined) this.kvPool.leave(engine.index);
    engine.goneUs = nowUs;
    const pool = this.next[engine.index]!;
    if (pool !== NOWHERE) this.start(pool, nowUs);
  }

  /** @param change its instant is `nowUs` */
  change(change: MembershipChange, nowUs: Micros): void {
    if (change.kind === 'join') {
      this.start(change.pool, nowUs);
      return;
    }
    const engine = this.leastBusy(change.pool);
    if (engine === undefined) return;
    engine.state = 'draining';
    this.next[engine.index] = change.kind === 'become' ? change.to : NOWHERE;
    this.parts.onLeaving(engine, nowUs);
    this.checkEmpty(engine, nowUs);
  }

  private start(pool: number, nowUs: Micros): void {
    const engine = this.goneEngine(pool) ?? this.join(pool);
    const isPeer = (each: VirtualEngine): boolean => each.poolIndex === pool && each.isReady;
    const phases = startupPhases(engine.pool, this.parts.engines.some(isPeer));
    this.parts.onStarting(engine, nowUs, phases);
    this.scheduleReady(engine, nowUs + startupLength(phases));
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
    this.parts.onFetching(engine, found.fetchUs);
    this.scheduleReady(engine, nowUs + found.fetchUs);
  }

  /**
   * An autoscaler can start any number of engines, so a new engine reuses the object of one that
   * left. Each engine of a schedule is new, with its own record.
   */
  private goneEngine(poolIndex: number): VirtualEngine | undefined {
    if (this.scenario.scaling === undefined) return undefined;
    const isFree = (engine: VirtualEngine): boolean =>
      engine.poolIndex === poolIndex && engine.state === 'gone';
    const engine = this.parts.engines.find(isFree);
    engine?.startAgain();
    return engine;
  }

  private join(poolIndex: number): VirtualEngine {
    const { engines, calendar, watcher, onJoined } = this.parts;
    const { pools, leap, workload } = this.scenario;
    const pool = pools[poolIndex]!;
    const group = this.groupFor(poolIndex);
    const index = engines.length;
    const { adapter } = workload;
    const engine = new VirtualEngine(index, {
      ...{ pool, poolIndex, calendar, watcher, leap, group },
      kvPool: pool.kvPool && new KvPoolMember(pool.kvPool, this.kvPool, index),
      adapters: adapter && new AdapterBook(adapter, pool.options.maxAdapters ?? 1),
      place: this.begun[poolIndex]!++,
      // Without contents, 1 gives the smallest table; 0 would mean a table for any hashes.
      contentCount: Math.max(1, workload.contentCount),
    });
    engines.push(engine);
    group?.add(engine);
    onJoined(engine);
    return engine;
  }

  /** Groups the engines that join a pool into the ranks of one engine. */
  private groupFor(poolIndex: number): LockstepGroup | undefined {
    const { lockstepRanks: size, options } = this.scenario.pools[poolIndex]!;
    if (size === undefined) return undefined;
    const last = this.groups[poolIndex];
    if (last !== undefined && last.ranks.length < size) return last;
    const group = new LockstepGroup(size, options, this.parts.calendar);
    this.groups[poolIndex] = group;
    return group;
  }

  private makeReady(engine: VirtualEngine, nowUs: Micros): void {
    engine.state = 'ready';
    engine.readyUs = nowUs;
    this.parts.onReady(engine, nowUs);
  }

  private leastBusy(poolIndex: number): VirtualEngine | undefined {
    let best: VirtualEngine | undefined;
    for (const engine of this.parts.engines) {
      if (engine.poolIndex !== poolIndex || !engine.isReady) continue;
      if (best === undefined || loadOf(engine) < loadOf(best)) best = engine;
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

/** Ranks that step together leave together. */
function loadOf({ group, load }: VirtualEngine): number {
  return group?.load ?? load;
}
