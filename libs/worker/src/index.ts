export type { WorkerProbe } from './health/worker-probe';
export { WorkerModule } from './health/worker.module';
export { ChangeSchedule } from './membership/change-schedule';
export { configuredChanges } from './membership/configured-changes';
export { memberLoad, type MemberEngine } from './membership/member-engine';
export { type EngineStarter, LiveMembership } from './membership/membership';
export { runWorker, supervisorPid } from './run-worker';
export { WorkerHosts } from './worker-hosts';
