export { candidatesOf, isAggregated, nameOf } from './candidates';
export type { Candidate, Choices } from './candidates';
export { findRate } from './find-rate';
export type { FoundRate, RateSearch } from './find-rate';
export { paretoFront } from './pareto';
export type { Costs } from './pareto';
export { decodeRate, matchRates, prefillRate } from './rate-match';
export type { Demand, Engines } from './rate-match';
