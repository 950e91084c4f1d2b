export type { EngineView, PlacementRequest, PlacementContext, Policy } from './policy';
export { retryAfterSeconds } from './retry-after';
export { chooseRoute } from './route';
export type { ClusterLoad, RouteChoice, StageLoad } from './route';
export { formatTopology, MAX_ENGINES, parseTopology, TopologyError } from './topology';
export type { Topology } from './topology';
export { Room } from './room';
export type { Incoming, RoomFacts } from './room';
export type { EngineRole } from './stage';
