export type { ClusterScenario, EnginePool } from './scenario';
