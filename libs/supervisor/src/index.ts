export {
  checkApiProcesses,
  checkEngineShare,
  checkEngines,
  enginesOf,
  withScheduledChanges,
} from './checks';
export {
  entryOf,
  NO_ENGINES,
  planOneProcess,
  planProcesses,
  type StageCounts,
} from './cluster-plan';
export { checkEnginePorts, claimPort, claimWorkerPort } from './ports';
export { checkOpenFiles } from './process-limit';
export { baseUrl, ClusterReadiness } from './readiness';
export {
  PARENT_WATCH,
  WATCHED_STDIO,
  SupervisedProcess,
  WARM_UP,
  type ProcessEvents,
  type ProcessSpec,
} from './supervised-process';
export { Supervisor } from './supervisor';
export { WorkerStarter } from './worker-starter';
export { LiveAutoscaler } from './scaling/live-autoscaler';
export { liveAutoscaler } from './scaling/live';
