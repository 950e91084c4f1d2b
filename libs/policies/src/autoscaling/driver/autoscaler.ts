import type { Micros } from '@baton/kernel';
import type { EngineRole, Topology } from '../../placement/topology/topology';
import type { RoleChange, ScaleBounds, ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { type ClusterSample, countsOf, enginesIn, ROLES } from '../sample';

/**
 * A change for a driver to carry out, in this order; the least busy engines of a role are chosen
 * first.
 */
export type ScaleChange =
  | { readonly kind: 'join' | 'leave'; readonly role: EngineRole; readonly count: number }
  | {
      readonly kind: 'become';
      readonly role: EngineRole;
      readonly to: EngineRole;
      readonly count: number;
    };

export interface AutoscalerOptions {
  readonly policy: ScalePolicy;
  readonly bounds: ScaleBounds;
  /** Minimum age of the scrapes that the policy reads. Zero: the current one. */
  readonly metricsAgeUs: Micros;
}

/** Longest delay of metrics, in intervals between decisions. */
export const MOST_DELAY_INTERVALS = 1_000;
/** Scrapes kept for policies that read delayed ones, with the one before. */
const MOST_SCRAPES = MOST_DELAY_INTERVALS + 2;

type Counts = Record<EngineRole, number>;

/**
 * Calls a policy once per interval and turns its counts into changes that keep the bounds. A role
 * always keeps an engine that accepts work. Draining engines still occupy their GPUs, so all
 * present engines count against the maximum when one joins. An engine that changes its role counts
 * in both roles. A starting engine is not stopped; it can leave once it accepts work.
 */
export class Autoscaler {
  private scrapes: ClusterSample[] = [];

  constructor(private readonly options: AutoscalerOptions) {}

  /** @param sample the current scrape, with all present engines */
  decide(sample: ClusterSample): ScaleChange[] {
    const { policy, bounds } = this.options;
    const context = this.contextAt(sample);
    if (context === undefined) return [];
    return changesTo(policy.decide(context), { sample, bounds });
  }

  /** Undefined when no scrape is old enough yet. */
  private contextAt(sample: ClusterSample): ScaleContext | undefined {
    this.scrapes.push(sample);
    if (this.scrapes.length > MOST_SCRAPES) this.scrapes.shift();
    const newestUs = sample.atUs - this.options.metricsAgeUs;
    const at = this.scrapes.findLastIndex(({ atUs }) => atUs <= newestUs);
    const seen = this.scrapes[at];
    if (seen === undefined) return undefined;
    const previous = this.scrapes[at - 1];
    this.scrapes = this.scrapes.slice(Math.max(0, at - 1));
    const { bounds } = this.options;
    return { nowUs: sample.atUs, sample: seen, previous, counts: countsOf(sample), bounds };
  }
}

/** The changes that bring the engines of a scrape closest to a decision. */
export function changesTo(
  decision: ScaleDecision,
  { sample, bounds }: { readonly sample: ClusterSample; readonly bounds: ScaleBounds },
): ScaleChange[] {
  const now = new Now(sample, bounds);
  const requested = { ...decision.counts };
  const became: ScaleChange[] = [];
  for (const { from, to, count } of decision.roleChanges ?? []) {
    const some = now.changeRole({ from, to, count });
    if (some > 0) became.push({ kind: 'become', role: from, to, count: some });
    // Engines that cannot change their role keep it.
    requested[from] += count - some;
    requested[to] -= count - some;
  }
  const left = ROLES.flatMap((role) => now.leave(role, requested));
  const joined = ROLES.flatMap((role) => now.join(role, requested));
  return [...became, ...left, ...joined];
}

/** The engines of a cluster while its changes are computed. */
class Now {
  /** Starting and ready engines. */
  private readonly counts: Counts;
  private readonly ready: Counts;
  /** Including draining ones: all engines that have GPUs. */
  private readonly present: Counts;

  constructor(
    sample: ClusterSample,
    private readonly bounds: ScaleBounds,
  ) {
    this.counts = { ...countsOf(sample) };
    this.ready = perRole(
      (role) => enginesIn(sample, role).filter(({ state }) => state === 'ready').length,
    );
    this.present = perRole(
      (role) =>
        sample.engines.filter((engine) => engine.role === role || engine.formerRole === role)
          .length,
    );
  }

  /** Returns the number of engines that can. */
  changeRole({ from, to, count }: RoleChange): number {
    const { min, max } = this.bounds;
    const free = Math.min(this.spareEngines(from), this.counts[from] - min[from]);
    const room = max[to] - this.present[to];
    const some = from === to ? 0 : atLeastZero(Math.min(whole(count), free, room));
    this.take(from, some);
    this.add(to, some);
    return some;
  }

  leave(role: EngineRole, requested: Topology): ScaleChange[] {
    const excess = this.counts[role] - this.bounded(role, requested);
    const some = atLeastZero(Math.min(excess, this.spareEngines(role)));
    if (some === 0) return [];
    this.take(role, some);
    return [{ kind: 'leave', role, count: some }];
  }

  join(role: EngineRole, requested: Topology): ScaleChange[] {
    const missing = this.bounded(role, requested) - this.counts[role];
    const room = this.bounds.max[role] - this.present[role];
    const some = atLeastZero(Math.min(missing, room));
    if (some === 0) return [];
    this.add(role, some);
    return [{ kind: 'join', role, count: some }];
  }

  private bounded(role: EngineRole, requested: Topology): number {
    return Math.min(this.bounds.max[role], Math.max(this.bounds.min[role], whole(requested[role])));
  }

  /** Engines that accept work, without the last one of their role. */
  private spareEngines(role: EngineRole): number {
    return atLeastZero(this.ready[role] - 1);
  }

  private take(role: EngineRole, count: number): void {
    this.counts[role] -= count;
    this.ready[role] -= count;
  }

  private add(role: EngineRole, count: number): void {
    this.counts[role] += count;
    this.present[role] += count;
  }
}

function perRole(of: (role: EngineRole) => number): Counts {
  return { prefill: of('prefill'), decode: of('decode'), aggregated: of('aggregated') };
}

function whole(count: number): number {
  return Number.isFinite(count) ? Math.round(count) : 0;
}

function atLeastZero(count: number): number {
  return Math.max(0, count);
}
