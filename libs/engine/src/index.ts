export { Engine } from './engine';
export { layoutOfEngine } from './engine-limits';
export type { EngineOptions, SpeculationOptions } from './port/engine-options';
export type {
  AdmissionResult,
  EngineCounters,
  EnginePort,
  EngineSnapshot,
  LaterSteps,
  Reservation,
  SequenceHandle,
  SequenceSpec,
  StepFacts,
} from './port/engine-port';
export {
  SCHEDULING_NAMES,
  type SchedulingPolicy,
  type WaitingView,
} from './port/scheduling-policy';
export { buildScheduling } from './scheduling/build-scheduling';
export {
  Lockstep,
  type LockstepOptions,
  type LockstepRank,
  type StepShare,
} from './lockstep/lockstep';
