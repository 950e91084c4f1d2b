export { countRanks } from './count-ranks';
export { mostGpus } from './membership-changes';
export { poolOf, scenarioOf } from './scenario-of';
export type { ScenarioExtras } from './scenario-of';
