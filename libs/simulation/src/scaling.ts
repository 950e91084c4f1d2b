import type { ScaleEvent, ScalingRecord } from '@baton/analysis';
import {
  type Autoscaler,
  type ClusterSample,
  engineOfRanks,
  type EngineSample,
  type RankSample,
  ROLES,
  type ScaleChange,
  type EngineRole,
} from '@baton/policies';
import type { Micros } from '@baton/kernel';
import { type Calendar, TIE } from './calendar';
import type { VirtualMembership } from './membership';
import type { Replica } from './ranks/replica';
import type { RequestMeter } from './request-meter';
import type { ClusterScaling, EnginePool, MembershipChange, RunObserver } from './scenario';
import type { VirtualStage } from './stage';
import type { VirtualEngine } from './virtual-engine';

export interface VirtualScalingParts {
  readonly membership: VirtualMembership;
  readonly calendar: Calendar;
  readonly pools: readonly EnginePool[];
  readonly stages: Readonly<Record<EngineRole, VirtualStage>>;
  readonly meter: RequestMeter;
  readonly slot: number;
  readonly policyWatch: RunObserver['policyWatch'];
}

/**
 * Scrapes the cluster at equal intervals, calls the autoscaler, and applies its changes. It ends
 * when nothing else can happen.
 */
export class VirtualScaling {
  private readonly autoscaler: Autoscaler;
  private readonly events: ScaleEvent[] = [];
  private decisions = 0;

  constructor(
    private readonly options: ClusterScaling,
    private readonly parts: VirtualScalingParts,
  ) {
    this.autoscaler = options.create(parts.policyWatch);
  }

  /** Time of the next decision. */
  get nextUs(): Micros {
    return this.parts.calendar.dueUs(this.parts.slot);
  }

  begin(): void {
    this.expectDecision(0);
  }

  decide(nowUs: Micros): void {
    const { calendar, slot } = this.parts;
    this.decisions++;
    for (const change of this.autoscaler.decide(this.scrape(nowUs))) this.carryOut(change, nowUs);
    calendar.clear(slot);
    if (calendar.nextUs !== Infinity) this.expectDecision(nowUs);
  }

  record(): ScalingRecord {
    const { decisions, events } = this;
    return { decisions, events, startups: this.parts.membership.startups };
  }

  private expectDecision(nowUs: Micros): void {
    const { calendar, slot } = this.parts;
    calendar.set(slot, nowUs + this.options.intervalUs, TIE.scaling);
  }

  private carryOut(change: ScaleChange, atUs: Micros): void {
    const pool = this.poolOf(change.role);
    const one: MembershipChange =
      change.kind === 'become'
        ? { atUs, kind: 'become', pool, to: this.poolOf(change.to) }
        : { atUs, kind: change.kind, pool };
    for (let i = 0; i < change.count; i++) this.parts.membership.change(one, atUs);
    this.events.push({ atUs, ...change });
  }

  private poolOf(role: EngineRole): number {
    return this.parts.pools.findIndex((pool) => pool.role === role);
  }

  private scrape(nowUs: Micros): ClusterSample {
    const { membership, stages, meter } = this.parts;
    const present = membership.replicas.filter(({ isGone }) => !isGone);
    const queued = { prefill: 0, decode: 0, aggregated: 0 };
    for (const role of ROLES) queued[role] = stages[role].waiting;
    return {
      atUs: nowUs,
      engines: present.map((replica) => this.engineSample(replica, nowUs)),
      queued,
      totals: meter.totals(),
    };
  }

  private engineSample({ leader, role, ranks, nextPool }: Replica, nowUs: Micros): EngineSample {
    const all = engineOfRanks(ranks.map((rank) => rankSample(rank, nowUs)));
    const shown = { engineId: leader.engineId, role, ...all };
    if (shown.state !== 'draining' || nextPool === undefined) return shown;
    // An engine that changes its role counts in the new role.
    const next = this.parts.pools[nextPool]!.role;
    return { ...shown, role: next, formerRole: role, state: 'starting' };
  }
}

function rankSample({ engine, state }: VirtualEngine, nowUs: Micros): RankSample {
  const { running, waiting, deferred, kvUsage } = engine.gauges(nowUs);
  return {
    state: state === 'gone' ? 'draining' : state,
    running,
    waiting: waiting + deferred,
    kvUsage,
  };
}
