export { ChangeSchedule } from './membership/change-schedule';
export { configuredChanges } from './membership/configured-changes';
export { memberLoad, type MemberEngine } from './membership/member-engine';
export { type EngineStarter, LiveMembership } from './membership/membership';
export { runWorker } from './run-worker';
export type { WorkerDependencies } from './engines.module';
export { WorkerHosts } from './worker-hosts';
export { WorkerModule } from './worker.module';
