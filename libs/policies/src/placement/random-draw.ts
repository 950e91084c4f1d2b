import type { RandomStream } from '@baton/kernel';
import type { Policy, PlacementContext } from './policy';

/** Chooses any engine with equal probability. */
export class RandomDraw implements Policy {
  constructor(private readonly random: RandomStream) {}

  choose({ engines }: PlacementContext): number {
    return this.random.integer(engines.length);
  }
}

/**
 * Draws two different engines at random and chooses the one with fewer requests, on a tie the
 * first. Almost as even as comparing all of them, and many routers with old views do not all choose
 * the same engine (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", 2001).
 */
export class PowerOfTwo implements Policy {
  constructor(private readonly random: RandomStream) {}

  choose({ engines }: PlacementContext): number {
    const count = engines.length;
    if (count === 1) return 0;
    const one = this.random.integer(count);
    const drawn = this.random.integer(count - 1);
    const other = drawn < one ? drawn : drawn + 1;
    const first = Math.min(one, other);
    const second = Math.max(one, other);
    return engines[second]!.requests < engines[first]!.requests ? second : first;
  }
}
