import type { Policy, PlacementContext } from './policy';

/** Chooses one engine after the other, regardless of their load. */
export class RoundRobin implements Policy {
  private last = -1;

  choose({ engines }: PlacementContext): number {
    this.last = (this.last + 1) % engines.length;
    return this.last;
  }
}
