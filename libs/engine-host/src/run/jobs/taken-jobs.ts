import type { OwnQueue } from '@baton/contract';

/**
 * Number of routers to remember: routers change with their processes, and only the latest ones
 * matter.
 */
const MAX_ROUTERS = 64;

/**
 * The highest ordinal of the jobs that an engine has taken, per router. One queue is taken in
 * order, except for priorities.
 */
export class TakenJobs {
  private readonly highest = new Map<string, number>();

  note({ routerId, ordinal }: OwnQueue): void {
    const before = this.highest.get(routerId) ?? 0;
    this.highest.delete(routerId);
    this.highest.set(routerId, Math.max(before, ordinal));
    const [oldest] = this.highest.keys();
    if (this.highest.size > MAX_ROUTERS && oldest !== undefined) this.highest.delete(oldest);
  }

  byRouter(): Record<string, number> {
    return Object.fromEntries(this.highest);
  }
}
