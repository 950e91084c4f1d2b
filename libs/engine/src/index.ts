export { Engine } from './engine';
export { layoutOfEngine } from './engine-limits';
export {
  Lockstep,
  type LockstepOptions,
  type LockstepRank,
  type StepShare,
} from './lockstep/lockstep';
export { cacheFetchUs, fullestPeer } from './caches/peer-cache';
export type { EngineOptions, SpeculationOptions } from './port/engine-options';
export type {
  AdmissionResult,
  CacheState,
  EngineCounters,
  EnginePort,
  EngineSnapshot,
  Reservation,
  SequenceHandle,
  SequenceSpec,
  StepFacts,
  WarmCache,
} from './port/engine-port';
export { SCHEDULING_NAMES } from './port/scheduling-policy';
export type { SchedulingName, SchedulingPolicy, WaitingView } from './port/scheduling-policy';
export { buildScheduling } from './scheduling/build-scheduling';
