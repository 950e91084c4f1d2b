import type { Micros, StartupPhase } from '@baton/kernel';
import type { EngineRoleName } from './run-record';

/** `starting` engines load, `draining` ones take nothing more, `gone` ones have left. */
export type LifeState = 'starting' | 'ready' | 'draining' | 'gone';

/** An engine has entered a state. */
export interface LifeEvent {
  readonly atUs: Micros;
  readonly engine: number;
  readonly role: EngineRoleName;
  readonly state: LifeState;
}

/** Something that an autoscaler had carried out. */
export interface ScaleEvent {
  readonly atUs: Micros;
  readonly kind: 'join' | 'leave' | 'become';
  readonly count: number;
  readonly role: EngineRoleName;
  /** Of `become`: the role that the engines take. */
  readonly to?: EngineRoleName;
}

/** An engine that started during a run. */
export interface StartupRecord {
  readonly atUs: Micros;
  readonly engine: number;
  readonly role: EngineRoleName;
  /** In order; `cache` when it fetched one. */
  readonly phases: StartupPhase[];
}

/** How the engines of a run came and went. */
export interface ScalingRecord {
  /** Decisions that were asked for. */
  readonly decisions: number;
  readonly events: readonly ScaleEvent[];
  /** In order of time. */
  readonly lives: readonly LifeEvent[];
  /** In order of time. */
  readonly startups: readonly StartupRecord[];
}
