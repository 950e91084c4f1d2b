import { EventQueue, type Micros } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
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
  readonly onGone: (engine: VirtualEngine) => void;
}

const NOWHERE = -1;

/** Engines that a run can have over its whole length. */
export function mostEngines({ pools, changes }: ClusterScenario): number {
  const first = pools.reduce((sum, { count }) => sum + count, 0);
  return first + changes.filter(({ kind }) => kind !== 'leave').length;
}

/**
 * The members of the cluster: engines of the start, those that join and load, and those that leave
 * when they are empty.
 */
export class VirtualMembership {
  /**
   * Payload: index of a change, or the number of changes plus the index of an engine that is ready
   * then.
   */
  private readonly due = new EventQueue();
  /** By engine: the pool that its GPUs go to. */
  private readonly next: number[] = [];
  /** By pool: the ranks that joined last, of engines whose ranks step together. */
  private readonly groups: (LockstepGroup | undefined)[] = [];
  /** By pool: the engines that began in it. */
  private readonly begun: number[];

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

  happen(nowUs: Micros): void {
    const { changes } = this.scenario;
    const what = this.due.pop();
    if (what < changes.length) this.change(changes[what]!, nowUs);
    else this.makeReady(this.parts.engines[what - changes.length]!, nowUs);
    this.setAlarm();
  }

  /** A draining engine may be empty now; then it goes. */
  checkEmpty(engine: VirtualEngine, nowUs: Micros): void {
    if (engine.state !== 'draining' || !engine.isEmpty) return;
    this.parts.onGone(engine);
    engine.state = 'gone';
    engine.goneUs = nowUs;
    const pool = this.next[engine.index]!;
    if (pool !== NOWHERE) this.start(pool, nowUs);
  }

  private change(change: MembershipChange, nowUs: Micros): void {
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
    const engine = this.join(pool);
    this.due.push(nowUs + engine.pool.startupUs, 0, this.scenario.changes.length + engine.index);
    this.setAlarm();
  }

  private join(poolIndex: number): VirtualEngine {
    const { engines, calendar, watcher, onJoined } = this.parts;
    const { pools, leap, workload } = this.scenario;
    const pool = pools[poolIndex]!;
    const group = this.groupFor(poolIndex);
    const engine = new VirtualEngine(engines.length, {
      ...{ pool, poolIndex, calendar, watcher, leap, group },
      place: this.begun[poolIndex]!++,
      // Without contents a table for one is the smallest; 0 would ask for one for any hashes.
      contentCount: Math.max(1, workload.contentCount),
    });
    engines.push(engine);
    group?.add(engine);
    onJoined(engine);
    return engine;
  }

  /** Every so many that join a pool are the ranks of one engine. */
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
