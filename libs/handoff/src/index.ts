export { DEFAULT_KV_LEASE_US, leaseTimes, type LeaseTimes } from './lease';
export { lifecycleOf, type HandoffEntry, type HandoffLifecycle } from './lifecycle';
export { type KvPorts, sourcePortsOf } from './kv-ports';
export { SourceCoordinator, type SourceOptions } from './source-coordinator';
export type {
  HoldingView,
  ReleaseReason,
  SourceAction,
  SourceCounters,
  SourceFact,
} from './source-protocol';
export { TargetCoordinator, type TargetOptions } from './target-coordinator';
export type {
  FetchFailure,
  FetchView,
  SourceName,
  TargetAction,
  TargetCounters,
  TargetFact,
} from './target-protocol';
export { TransferSet, type CompletedTransfer, type TransferStart } from './transfer-set';
export {
  TransferSetup,
  wholeBlocks,
  type TransferSetupTimes,
  type TransferShape,
} from './transfer-setup';
