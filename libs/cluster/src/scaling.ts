import type { ScaleEvent, ScalingRecord, StartupRecord } from '@baton/analysis';
import {
  type Autoscaler,
  type ClusterSample,
  type EngineSample,
  ROLES,
  type ScaleChange,
} from '@baton/autoscaling';
import type { Micros, StartupPhase } from '@baton/kernel';
import type { EngineRole } from '@baton/placement';
import { type Calendar, TIE } from './calendar';
import type { RequestMeter } from './request-meter';
import type { ClusterScaling, EnginePool, MembershipChange, RunObserver } from './scenario';
import type { VirtualStage } from './stage';
import type { VirtualEngine } from './virtual-engine';

export interface VirtualScalingParts {
  readonly engines: readonly VirtualEngine[];
  readonly calendar: Calendar;
  readonly pools: readonly EnginePool[];
  readonly stages: Readonly<Record<EngineRole, VirtualStage>>;
  readonly meter: RequestMeter;
  readonly slot: number;
  readonly nextRoleOf: (engine: VirtualEngine) => EngineRole | undefined;
  readonly policyWatch: RunObserver['policyWatch'];
  readonly onChange: (change: MembershipChange, nowUs: Micros) => void;
}

/**
 * Scrapes the cluster at equal intervals, calls the autoscaler, and applies its changes. It ends
 * when nothing else can happen.
 */
export class VirtualScaling {
  private readonly autoscaler: Autoscaler;
  private readonly events: ScaleEvent[] = [];
  private readonly startups: StartupRecord[] = [];
  private decisions = 0;

  constructor(
    private readonly options: ClusterScaling,
    private readonly parts: VirtualScalingParts,
  ) {
    this.autoscaler = options.create(parts.policyWatch);
  }

  /** When the next decision is due. */
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

  noteStart(engine: VirtualEngine, atUs: Micros, phases: readonly StartupPhase[]): void {
    const { index, pool } = engine;
    this.startups.push({ atUs, engine: index, role: pool.role, phases: [...phases] });
  }

  /** The last start of the engine also fetches a cache. */
  noteFetch({ index }: VirtualEngine, us: Micros): void {
    const startup = this.startups.findLast(({ engine }) => engine === index);
    startup?.phases.push({ cause: 'cache', us });
  }

  record(): ScalingRecord {
    const { decisions, events, startups } = this;
    return { decisions, events, startups };
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
    for (let i = 0; i < change.count; i++) this.parts.onChange(one, atUs);
    this.events.push({ atUs, ...change });
  }

  private poolOf(role: EngineRole): number {
    return this.parts.pools.findIndex((pool) => pool.role === role);
  }

  private scrape(nowUs: Micros): ClusterSample {
    const { engines, stages, meter } = this.parts;
    const present = engines.filter(({ state }) => state !== 'gone');
    const queued = { prefill: 0, decode: 0, aggregated: 0 };
    for (const role of ROLES) queued[role] = stages[role].waiting;
    return {
      atUs: nowUs,
      engines: present.map((engine) => {
        const shown = engineSample(engine, nowUs);
        const role = this.parts.nextRoleOf(engine);
        // An engine that changes its role counts in the new role.
        if (role === undefined) return shown;
        return { ...shown, role, formerRole: shown.role, state: 'starting' };
      }),
      queued,
      totals: meter.totals(),
    };
  }
}

function engineSample(
  { engineId, engine, pool, state }: VirtualEngine,
  nowUs: Micros,
): EngineSample {
  const { running, waiting, deferred, kvUsage } = engine.gauges(nowUs);
  return {
    engineId,
    role: pool.role,
    state: state === 'gone' ? 'draining' : state,
    ...{ running, waiting: waiting + deferred, kvUsage },
  };
}
