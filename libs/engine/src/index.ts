export { Engine } from './engine';
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
