export { retryAfterSeconds } from './retry-after';
export { chooseRoute } from './route';
export type { ClusterLoad, RouteChoice, StageLoad } from './route';
export { formatTopology, MAX_ENGINES, parseTopology, TopologyError } from './topology';
export type { Topology } from './topology';
