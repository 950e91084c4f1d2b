import type { Micros, StartupPhase } from '@baton/kernel';
import type { EngineRoleName } from './run-record';

/** `starting` engines load, `draining` ones take no new work, `gone` ones have left. */
export type LifeState = 'starting' | 'ready' | 'draining' | 'gone';

/** An engine has entered a state. */
export interface LifeEvent {
  readonly atUs: Micros;
  readonly engine: number;
  readonly role: EngineRoleName;
  readonly state: LifeState;
}

/** A change of the engines that an autoscaler ordered. */
export interface ScaleEvent {
  readonly atUs: Micros;
  readonly kind: 'join' | 'leave' | 'become';
  readonly count: number;
  readonly role: EngineRoleName;
  /** The new role of the engines; only for `become`. */
  readonly to?: EngineRoleName;
}

/** A start of an engine during a run. */
export interface StartupRecord {
  readonly atUs: Micros;
  readonly engine: number;
  readonly role: EngineRoleName;
  /** In order; the last one is `cache` if the engine fetched one. */
  readonly phases: StartupPhase[];
}

/** The decisions of the autoscaler of a run, and the starts that followed. */
export interface ScalingRecord {
  /** Number of decisions of the autoscaler. */
  readonly decisions: number;
  readonly events: readonly ScaleEvent[];
  /** In order of time. */
  readonly startups: readonly StartupRecord[];
}
