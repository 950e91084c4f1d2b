export { DEFAULT_KV_LEASE_US, leaseTimes } from './lease';
export type { LeaseTimes } from './lease';
export { lifecycleOf } from './lifecycle';
export type { HandoffEntry, HandoffLifecycle } from './lifecycle';
export { type KvPorts, sourcePortsOf } from './kv-ports';
export { SourceCoordinator } from './source-coordinator';
export type { SourceOptions } from './source-coordinator';
export type {
  HoldingView,
  ReleaseReason,
  SourceAction,
  SourceCounters,
  SourceFact,
} from './source-protocol';
export { TargetCoordinator } from './target-coordinator';
export type { TargetOptions } from './target-coordinator';
export type {
  FetchFailure,
  FetchView,
  SourceName,
  TargetAction,
  TargetCounters,
  TargetFact,
} from './target-protocol';
export { TransferSet } from './transfer-set';
export { TransferSetup, wholeBlocks } from './transfer-setup';
export type { TransferSetupTimes, TransferShape } from './transfer-setup';
export type { CompletedTransfer, TransferStart } from './transfer-set';
