export { FarmPool, openFarm } from './farm-pool';
export { startPlanner, type Planner } from './planner';
