export { Engine } from './engine';
export { layoutOfEngine } from './engine-limits';
export { Lockstep, type LockstepRank, type StepShare } from './lockstep/lockstep';
export type {
  AdmissionResult,
  EngineCounters,
  EngineOptions,
  EnginePort,
  EngineSnapshot,
  Reservation,
  SequenceHandle,
  SequenceSpec,
  SpeculationOptions,
  StepFacts,
} from './types';
