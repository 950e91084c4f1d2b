import type { RandomStream } from '@baton/kernel';
import type { EngineRole } from '../../placement/topology/topology';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';

export interface RandomCountsSpec {
  readonly kind: 'random';
}

/**
 * Random counts within the bounds, and random changes of role, to test that no request is lost.
 */
export class RandomCounts implements ScalePolicy {
  constructor(private readonly random: RandomStream) {}

  decide({ counts, bounds: { min, max } }: ScaleContext): ScaleDecision {
    const draw = (role: EngineRole): number =>
      min[role] + this.random.integer(max[role] - min[role] + 1);
    const drawn = {
      prefill: draw('prefill'),
      decode: draw('decode'),
      aggregated: draw('aggregated'),
    };
    if (max.prefill === 0 || this.random.unit() < 0.5) return { counts: drawn };
    const [from, to] =
      this.random.unit() < 0.5
        ? (['prefill', 'decode'] as const)
        : (['decode', 'prefill'] as const);
    const changed = { ...counts, [from]: counts[from] - 1, [to]: counts[to] + 1 };
    return { counts: changed, roleChanges: [{ from, to, count: 1 }] };
  }
}
