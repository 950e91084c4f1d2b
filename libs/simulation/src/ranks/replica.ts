import { assert } from '@baton/kernel';
import type { EngineRole } from '@baton/policies';
import { LockstepGroup } from './lockstep-group';
import type { Calendar } from '../calendar';
import type { EnginePool } from '../scenario';
import type { VirtualEngine } from '../virtual-engine';

/** `next` of a replica whose GPUs become free. */
const NO_POOL = -1;

/**
 * One engine of the topology with all its data-parallel ranks, on the virtual clock. The ranks
 * join, drain and leave together, as the ranks of one live process do. Without data-parallel ranks
 * it is a single engine.
 */
export class Replica {
  readonly ranks: VirtualEngine[] = [];
  /** Set where its ranks step together. */
  readonly group: LockstepGroup | undefined;
  /** The pool that gets its GPUs when it is gone. */
  private next = NO_POOL;
  private readonly size: number;

  constructor(
    readonly poolIndex: number,
    pool: EnginePool,
    calendar: Calendar,
  ) {
    const { size, isLockstep } = pool.dataParallel ?? { size: 1, isLockstep: false };
    this.size = size;
    this.group = isLockstep ? new LockstepGroup(size, pool.options, calendar) : undefined;
  }

  /** The rank that names the engine. */
  get leader(): VirtualEngine {
    return this.ranks[0]!;
  }

  get role(): EngineRole {
    return this.leader.pool.role;
  }

  /** Rows in all ranks. */
  get load(): number {
    let load = 0;
    for (const rank of this.ranks) load += rank.load;
    return load;
  }

  get isReady(): boolean {
    return this.ranks.every((rank) => rank.isReady);
  }

  get isGone(): boolean {
    return this.leader.state === 'gone';
  }

  /** True when it leaves and no rank has anything left. */
  get hasDrained(): boolean {
    return this.ranks.every((rank) => rank.state === 'draining' && rank.isEmpty);
  }

  /** The pool of its next engine; undefined when its GPUs become free. */
  get nextPool(): number | undefined {
    return this.next === NO_POOL ? undefined : this.next;
  }

  add(rank: VirtualEngine): void {
    assert(this.ranks.length < this.size, 'the engine has no further rank');
    this.ranks.push(rank);
    this.group?.add(rank);
  }

  drain(nextPool = NO_POOL): void {
    this.next = nextPool;
    for (const rank of this.ranks) rank.state = 'draining';
  }

  /** Starts a new engine on the GPUs of one that left. */
  startAgain(): void {
    this.group?.startAgain();
    for (const rank of this.ranks) rank.startAgain();
  }
}
