import { clusterValue } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';

export interface RoleSwitchSpec {
  readonly kind: 'switch';
  /** Objectives of mean TTFT and mean gap between tokens, seconds. */
  readonly ttftSeconds: number;
  readonly itlSeconds: number;
  /** The other stage must be below this share of its objective. */
  readonly calm: number;
}

/**
 * Moves one engine at a time from the calm stage to the stage that misses its objective, and keeps
 * their total. Prefill is the bottleneck while the mean TTFT is above its objective, decode while
 * the mean gap between tokens is. After Arrow (arXiv 2505.11916), which flips instances between
 * prefill and decode by TTFT and token intervals.
 */
export class RoleSwitch implements ScalePolicy {
  constructor(private readonly spec: RoleSwitchSpec) {}

  decide(context: ScaleContext): ScaleDecision {
    const { counts } = context;
    const ttft = clusterValue('ttft', 'prefill', context);
    const itl = clusterValue('itl', 'decode', context);
    if (ttft === undefined || itl === undefined) return { counts };
    const prefill = ttft / this.spec.ttftSeconds;
    const decode = itl / this.spec.itlSeconds;
    if (prefill > 1 && decode < this.spec.calm) return change(counts, 'decode', 'prefill');
    if (decode > 1 && prefill < this.spec.calm) return change(counts, 'prefill', 'decode');
    return { counts };
  }
}

function change(
  counts: ScaleContext['counts'],
  from: 'prefill' | 'decode',
  to: 'prefill' | 'decode',
): ScaleDecision {
  return {
    counts: { ...counts, [from]: counts[from] - 1, [to]: counts[to] + 1 },
    roleChanges: [{ from, to, count: 1 }],
  };
}
