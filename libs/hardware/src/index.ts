export type { BatchAggregates, DecodeLaw, StepTimeModel } from './step-time/step-time-model';
