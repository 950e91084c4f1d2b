export { deliver, type Handlers } from './handlers';
export { leaseTimes } from './lease';
export { lifecycleOf, type HandoffEntry } from './lifecycle';
export { SourceCoordinator } from './source-coordinator';
export type { HoldingView, ReleaseReason, SourceAction, SourceFact } from './source-protocol';
export { TargetCoordinator, type TargetOptions } from './target-coordinator';
export type { FetchFailure, SourceName, TargetAction, TargetFact } from './target-protocol';
export { TransferSet, type TransferStart } from './transfer-set';
export {
  TransferSetup,
  wholeBlocks,
  type TransferSetupTimes,
  type TransferShape,
} from './transfer-setup';
